/**
 * In a notebook, around the frames of widgets: each becomes as high as it says, and is told the
 * notebook's theme.
 */

const frames: NodeListOf<HTMLIFrameElement> = document.querySelectorAll("iframe.mha:not([data-heard])");
frames.forEach((frame) => {
  frame.dataset.heard = "";
  const tell = () => frame.contentWindow?.postMessage(
    { mhaScheme: getComputedStyle(frame).colorScheme }, "*");
  addEventListener("message", ({ data, source }) => {
    if (!data?.mhaHeight || source !== frame.contentWindow) return;
    const height = `${data.mhaHeight}px`;
    if (frame.style.height === height) return; // an answer would be answered
    frame.style.height = height;
    tell();
  });
  frame.addEventListener("load", tell);
  [document.documentElement, document.body].forEach((node) =>
    new MutationObserver(tell).observe(node, { attributes: true }));
  tell();
});
