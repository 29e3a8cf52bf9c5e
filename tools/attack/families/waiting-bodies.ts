/** Small bodies that never end: each is harmless, and together they take what all small bodies have. */
import { setTimeout as delay } from "node:timers/promises";
import { countStatuses, verdictOf, type Attack } from "../attack.ts";

export const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const SMALL_BODY = Buffer.alloc(60_000, " ");
/** More than all small bodies together may have. */
const WAITING_BODIES = { short: 1_200, full: 4_000 };
const STREAMS = 100;
export const waitingBodies: Attack = {
  name: "bodies/waiting",
  claim: "an account whose small bodies never end leaves room for the bodies of others",
  short: true,
  async run(world) {
    const { token } = await world.account();
    const count = world.isShort ? WAITING_BODIES.short : WAITING_BODIES.full;
    const statuses: number[] = [];
    for (let sent = 0; sent < count && !world.signal.aborted; sent += STREAMS) {
      const session = await world.session();
      for (let index = 0; index < STREAMS; index++) {
        const stream = session.request(
          {
            ":method": "POST",
            ":path": REVIEWS,
            "content-type": "application/json",
            "content-length": String(SMALL_BODY.length + 1),
            authorization: `Bearer ${token}`,
          },
          { endStream: false },
        );
        stream.on("response", ({ ":status": status }) => statuses.push(Number(status)));
        stream.on("error", () => {});
        stream.resume();
        stream.write(SMALL_BODY);
      }
      await delay(20);
    }
    await delay(world.isShort ? 500 : 5_000);
    const odd = statuses.filter((status) => status !== 429);
    return verdictOf(
      `${count} bodies of 60,000 bytes that lack their last byte`,
      statuses.length === 0 ? ["none was rejected"] : odd.length > 0 ? [countStatuses(odd)] : [],
      `${countStatuses(statuses)}, the others wait`,
    );
  },
};
