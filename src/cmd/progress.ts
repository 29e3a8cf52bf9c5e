/** One line on a terminal that says what takes so long; nothing at all where output is not a terminal. */
import type { Clock, Timer } from "../base/index.ts";

/** Work that is over before this needs no explanation. */
const PATIENCE_MS = 1_000;

export function createProgress(stream: { isTTY?: boolean; write(text: string): boolean }, clock: Clock): { show(text: string): void } {
  let text = "";
  let timer: Timer | undefined;
  let visible = false;
  const draw = (): void => {
    visible = true;
    stream.write(`\r\u001b[K${text}`);
  };
  return {
    show(next) {
      if (!stream.isTTY) return;
      text = next;
      if (next === "") {
        timer?.cancel();
        timer = undefined;
        if (visible) stream.write("\r\u001b[K");
        visible = false;
      } else if (visible) draw();
      else timer ??= clock.after(PATIENCE_MS, draw);
    },
  };
}
