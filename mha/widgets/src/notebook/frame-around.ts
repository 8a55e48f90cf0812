/**
 * The script of a notebook around the frames of widgets: it gives each frame the height that the frame
 * reports, and sends it the notebook's theme.
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
