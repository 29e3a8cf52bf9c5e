/** Waiting for what another process brings about. */
import { sleep, systemClock } from "../../src/base/index.ts";

const EVENTUALLY_MS = 60_000;
const LOOK_MS = 100;
const SHOWN = 1000;

/** Looks until what is seen is right, and gives it; after a minute it throws with what was seen last. */
export async function eventually<T>(what: string, look: () => Promise<T>, isRight: (seen: T) => boolean): Promise<T> {
  const untilMs = Date.now() + EVENTUALLY_MS;
  for (;;) {
    const seen = await look();
    if (isRight(seen)) return seen;
    if (Date.now() > untilMs) throw new Error(`${what}: last seen ${JSON.stringify(seen)?.slice(0, SHOWN)}`);
    await sleep(systemClock, LOOK_MS);
  }
}
