/** Waits for effects of another process. */
import { sleep, systemClock } from "@flotilla/base";

const EVENTUALLY_MS = 60_000;
const LOOK_MS = 100;
const SHOWN = 1000;

/** Polls until the value is right, and returns it; after a minute it throws with the last value. */
export async function eventually<T>(what: string, look: () => Promise<T>, isRight: (seen: T) => boolean): Promise<T> {
  const untilMs = Date.now() + EVENTUALLY_MS;
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    if (Date.now() > untilMs) throw new Error(`${what}: last seen ${JSON.stringify(seen)?.slice(0, SHOWN)}`);
    await sleep(systemClock, LOOK_MS);
  }
}
