/** Progress: a line that is redrawn on a terminal; elsewhere a line of its own now and then. */
import type { Clock, Timer } from "@flotilla/base";

/** Shorter work shows no progress. */
const DELAY_MS = 1_000;
/** Without a terminal: when a text that changed is printed, and when one that did not. */
const CHANGED_MS = 30_000;
const UNCHANGED_MS = 60_000;

export interface Progress {
  /** An empty text clears it. */
  show(text: string): void;
  /** Writes something else to the same terminal; the line is redrawn afterwards. */
  aside(write: () => void): void;
}

const CLEAR = "\r\u001b[K";

interface Stream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): boolean;
}

/** `isForPrograms`: the output is data, and so is an error, so nothing is printed without a terminal. */
export function createProgress(stream: Stream, clock: Clock, isForPrograms = false): Progress {
  if (stream.isTTY) return createLine(stream, clock);
  return isForPrograms ? { show: () => {}, aside: (write) => write() } : createLog(stream, clock);
}

/** Prints what a command waits for, so that the log of a script shows it: if it has changed, or as a sign of life. */
function createLog(stream: Stream, clock: Clock): Progress {
  let text = "";
  let timer: Timer | undefined;
  let startMs = 0;
  let printed = { text: "", atMs: 0 };
  const print = (): void => {
    const nowMs = clock.now();
    if (text !== printed.text || nowMs - printed.atMs >= UNCHANGED_MS) {
      printed = { text, atMs: nowMs };
      stream.write(`${text} (after ${Math.round((nowMs - startMs) / 1000)} s)\n`);
    }
    timer = clock.after(CHANGED_MS, print);
  };
  return {
    show(next) {
      text = next;
      if (next === "") {
        timer?.cancel();
        timer = undefined;
      } else if (!timer) {
        startMs = clock.now();
        timer = clock.after(CHANGED_MS, print);
      }
    },
    aside: (write) => write(),
  };
}

function createLine(stream: Stream, clock: Clock): Progress {
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
