/** One line on a terminal that says what takes so long; nothing at all where output is not a terminal. */
import type { Clock, Timer } from "../base/index.ts";

/** Work that is over before this needs no explanation. */
const PATIENCE_MS = 1_000;

export interface Progress {
  /** An empty text ends it. */
  show(text: string): void;
  /** Writes something else to the same terminal; the line is back afterwards. */
  aside(write: () => void): void;
}

const CLEAR = "\r\u001b[K";

export function createProgress(
  stream: { isTTY?: boolean; columns?: number; write(text: string): boolean },
  clock: Clock,
): Progress {
  let text = "";
  let timer: Timer | undefined;
  let visible = false;
  const draw = (): void => {
    visible = true;
    // A line that is wider than the terminal could not be taken back.
    stream.write(`${CLEAR}${stream.columns ? text.slice(0, stream.columns - 1) : text}`);
  };
  return {
    show(next) {
      if (!stream.isTTY) return;
      text = next;
      if (next === "") {
        timer?.cancel();
        timer = undefined;
        if (visible) stream.write(CLEAR);
        visible = false;
      } else if (visible) draw();
      else timer ??= clock.after(PATIENCE_MS, draw);
    },
    aside(write) {
      if (visible) stream.write(CLEAR);
      write();
      if (visible) draw();
    },
  };
}
