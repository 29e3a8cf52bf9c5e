/**
 * A steady load with nothing hostile in it, in a process of its own: it changes objects on the hub and measures how long
 * each change takes to reach each well-behaved member, from the request to the event of a watch there.
 */
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "@flotilla/base";
import { connectHttp2, type Api } from "../../test/programs/raw-client.ts";

export interface LoadOptions {
  origin: string;
  ca: string;
  token: string;
  members: readonly { name: string; token: string }[];
  namespace: string;
  objects: readonly string[];
  intervalMs: number;
}
export type LoadCommand = { type: "start"; options: LoadOptions } | { type: "take" };

/** Since the last report. */
export interface LoadReport {
  deliveryMs: number[];
  /** Changes that some member did not have within the limit. */
  lost: number;
  failures: string[];
}

/** A change that takes longer is lost; the next change of the object arrives in its place. */
const LOST_AFTER_MS = 20_000;

const report: LoadReport = { deliveryMs: [], lost: 0, failures: [] };
/** By member, object and round. */
const sent = new Map<string, number>();
const keyOf = (member: string, object: string, round: string): string => `${member} ${object} ${round}`;

async function start(options: LoadOptions): Promise<void> {
  const { origin, ca, token, members, namespace, objects, intervalMs } = options;
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const { name, token: bearer } of members)
    void follow(name, connectHttp2({ server: new URL(`${origin}/clusters/${name}`), ca, token: bearer }), path);
  const hub = connectHttp2({ server: new URL(origin), ca, token });
  for (let round = 1; ; round++) {
    const object = objects[round % objects.length] ?? "";
    const now = performance.now();
    for (const [key, at] of sent)
      if (now - at > LOST_AFTER_MS) {
        sent.delete(key);
        report.lost++;
      }
    for (const { name } of members) sent.set(keyOf(name, object, String(round)), now);
    // A slow answer must not slow down the load.
    hub.patch("merge", `${path}/${object}`, { data: { round: String(round) } }).then(
      ({ status, text }) => {
        if (status !== 200) report.failures.push(`${status} ${text.slice(0, 100)}`);
      },
      (error: unknown) => report.failures.push(messageOf(error)),
    );
    await delay(intervalMs);
  }
}

/** Watches the objects on a member for ever. */
async function follow(member: string, api: Api, path: string): Promise<never> {
  for (;;) {
    try {
      const watch = await api.watch(`${path}?watch=true&resourceVersion=0`);
      for (;;) {
        const { object } = await watch.next();
        arrived(member, object.metadata.name, (object.data as { round?: string } | undefined)?.round ?? "");
      }
    } catch (error) {
      // The watch has ended, or nothing changed for a while.
      if (!/watch|event/.test(messageOf(error))) report.failures.push(messageOf(error));
      await delay(50);
    }
  }
}

function arrived(member: string, object: string, round: string): void {
  const key = keyOf(member, object, round);
  const at = sent.get(key);
  if (at === undefined) return;
  sent.delete(key);
  report.deliveryMs.push(performance.now() - at);
}

process.on("message", (command: LoadCommand) => {
  if (command.type === "start") void start(command.options);
  else {
    process.send?.(report);
    Object.assign(report, { deliveryMs: [], lost: 0, failures: [] });
  }
});
process.on("disconnect", () => process.exit(0));
