/** `flotilla status`: the fleet at a glance, from the hub's point of view. */
import { equalJson, sleep } from "../../base/index.ts";
import type { Json } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import type { FleetStatus } from "../status/fleet-status.ts";
import { readStatus } from "../status/read-status.ts";
import { renderStatus } from "../status/render-status.ts";

const WATCH_MS = 5_000;

export const statusCommand = defineCommand({
  name: "status",
  summary: "show the members of the fleet, what is not well, and where workloads run",
  details:
    "Members with both their faces, Karmada's and Open Cluster Management's; what is not well, with counts and the worst ten; and where workloads run. Exit code 0 means that it could be read, not that all is well: 'flotilla doctor' judges.",
  example: [
    { says: "Look once.", run: "flotilla status" },
    { says: "Look every five seconds, and print what changed.", run: "flotilla status --watch" },
    { says: "Look at a fleet that keeps its data elsewhere.", run: "flotilla status --data ./fleet" },
    { says: "Look at any hub, for a program to read.", run: "flotilla status --kubeconfig hub.kubeconfig -o json" },
  ],
  args: [],
  flags: {
    watch: {
      type: "boolean",
      short: "w",
      description: "look again every five seconds, and print what changed, until Ctrl-C",
    },
    all: { type: "boolean", description: "show every workload with all its clusters, and all that is not well" },
    ...hubFlags,
  },
  async run({ flags, output, signal, clock, connect, environment }) {
    const { client, server, close } = await connect(hubKubeconfig(flags, environment));
    try {
      let last: Json | undefined;
      for (;;) {
        const nowMs = clock.now();
        const status = await readStatus(client, server, nowMs, signal);
        const steady = withoutTimes(status);
        if (last !== undefined && !equalJson(last, steady)) output.say("");
        if (last === undefined || !equalJson(last, steady))
          output.result(status as unknown as Json, () =>
            renderStatus(status, { nowMs, all: flags.all, width: output.width, paint: output.paint }),
          );
        last = steady;
        if (!flags.watch) return;
        await sleep(clock, WATCH_MS, signal);
      }
    } catch (error) {
      if (!flags.watch || !signal.aborted) throw error; // Ctrl-C is how a watch ends.
    } finally {
      await close();
    }
  },
});

/** What is news: time goes by anyway. */
function withoutTimes({ members, ...rest }: FleetStatus): Json {
  return { ...rest, members: members.map(({ age: _age, heard: _heard, ...member }) => member) } as unknown as Json;
}
