/** A progress line on a terminal; nothing if output is not a terminal. */
import type { Clock, Timer } from "@flotilla/base";

/** Shorter work shows no progress. */
const DELAY_MS = 1_000;

export interface Progress {
  /** An empty text clears it. */
  show(text: string): void;
  /** Writes something else to the same terminal; the line is redrawn afterwards. */
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
    // A line wider than the terminal could not be cleared.
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
      else timer ??= clock.after(DELAY_MS, draw);
    },
    aside(write) {
      if (visible) stream.write(CLEAR);
      write();
      if (visible) draw();
    },
  };
}
