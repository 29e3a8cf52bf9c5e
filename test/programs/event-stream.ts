/** A watch as a client sees it: events one by one, in order, with a limit on the wait for the next. */
import type { Body } from "./raw-client.ts";

export interface WatchEvent {
  type: string;
  object: Body;
}

export interface EventStream {
  status: number;
  headers: Readonly<Record<string, string | undefined>>;
  /** The next event; rejects when the stream ends or none arrives in time. */
  next(): Promise<WatchEvent>;
  take(count: number): Promise<WatchEvent[]>;
  /** The events until the server ends the stream; rejects if it does not end in time. */
  rest(): Promise<WatchEvent[]>;
  /** Stops reading from the connection, like a hanging client. */
  pause(): void;
  close(): void;
}

/** The flow control of a response in progress. */
export interface Flow {
  pause(): void;
  cancel(): void;
}

export interface Receiver {
  onResponse(status: number, headers: Readonly<Record<string, string | undefined>>): void;
  onData(chunk: Buffer): void;
  onEnd(): void;
  onError(error: Error): void;
}

/** Far longer than any event takes; only a failing test waits for it. */
const WAIT_LIMIT_MS = 30_000;

export function eventStream(open: (receiver: Receiver) => Flow): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const events: WatchEvent[] = [];
    let ended = false;
    let closed = false;
    let wake = (): void => {};
    let rest = "";
    const waitFor = async (what: string, isThere: () => boolean): Promise<void> => {
      const deadline = performance.now() + WAIT_LIMIT_MS;
      while (!isThere()) {
        const left = deadline - performance.now();
        if (left <= 0) throw new Error(`${what} did not come within ${WAIT_LIMIT_MS} ms`);
        await new Promise<void>((resume) => {
          const timer = setTimeout(resume, left);
          wake = () => {
            clearTimeout(timer);
            resume();
          };
        });
      }
    };
    const next = async (): Promise<WatchEvent> => {
      await waitFor("the next event", () => events.length > 0 || ended);
      const event = events.shift();
      if (!event) throw new Error("the watch ended before the next event");
      return event;
    };
    const flow = open({
      onResponse(status, headers) {
        resolve({
          status,
          headers,
          next,
          async take(count) {
            const taken: WatchEvent[] = [];
            while (taken.length < count) taken.push(await next());
            return taken;
          },
          async rest() {
            await waitFor("the end of the watch", () => ended);
            return events.splice(0);
          },
          pause: () => flow.pause(),
          close() {
            closed = true;
            flow.cancel();
          },
        });
      },
      onData(chunk) {
        const lines = (rest + chunk.toString("utf8")).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) if (line !== "") events.push(JSON.parse(line) as WatchEvent);
        wake();
      },
      onEnd() {
        ended = true;
        wake();
      },
      onError(error) {
        ended = true;
        wake();
        if (!closed) reject(new Error("the watch broke", { cause: error }));
      },
    });
  });
}
