/** Sharing: the state of a figure in the page's address, copied for a reader to pass on. */

import { explorer as texts } from "../strings/explorer.ts";
import { setText } from "../figures/explorer-parts.ts";

/**
 * Write a state into the page's address and copy the address.
 *
 * @param hash with its #
 * @param status the element that tells a reader whether the address was copied
 */
export async function shareAddress(hash: string, status: Element) {
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    setText(status, texts.addressCopied);
  } catch {
    setText(status, texts.notCopied);
  }
}
