/** `flotilla status`: shows the fleet at a glance, as the hub sees it. */
import { equalJson, FlotillaError, sleep } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { Namespace } from "@flotilla/kubernetes";
import { defineCommand } from "../command.ts";
import { FORMATS } from "../output.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import type { FleetStatus } from "../status/fleet-status.ts";
import { readStatus } from "../status/read-status.ts";
import { noNamespace, renderStatus } from "../status/render-status.ts";
import { NO_CONTROLLERS } from "../status/unhealthy.ts";

const WATCH_MS = 5_000;

export const statusCommand = defineCommand({
  name: "status",
  summary: "show the members of the fleet, what is unhealthy, and where workloads run",
  details:
    "Shows members with their Karmada and Open Cluster Management registrations; what is unhealthy, with " +
    "counts and the worst ten; and where workloads run. A workload is unhealthy when its pods have not " +
    "been ready or updated for a minute, or at once when a pod reports an error; the pods of such " +
    "workloads are read from the members. Releases that failed, stand still or wait for a decision, " +
    "autoscalers that do not scale and quotas that are exceeded are listed too. Parts of policies that " +
    "have no effect, such as a cluster that is not a member, are counted; 'flotilla doctor --only " +
    "policies' lists them. What could not be checked is listed first. Exit code 0 means that the status " +
    "could be read, not that everything is healthy; it is 1 if the hub does not have the namespace.",
  example: [
    { says: "Show the status once.", run: "flotilla status" },
    { says: "Refresh every five seconds, and print what changed.", run: "flotilla status --watch" },
    { says: "Show the workloads of one namespace.", run: "flotilla status -n shop" },
    { says: "Also show regions, ages, policies and every cluster of a workload.", run: "flotilla status -o wide" },
    { says: "Show a fleet with another data directory.", run: "flotilla status --data ./fleet" },
    { says: "Show any hub, with JSON output.", run: "flotilla status --kubeconfig hub.kubeconfig -o json" },
  ],
  args: [],
  flags: {
    watch: {
      type: "boolean",
      short: "w",
      description: "refresh every five seconds and print what changed, until Ctrl-C",
    },
    namespace: {
      type: "string",
      short: "n",
      value: "NS",
      completes: "namespace",
      description: "only the workloads of this namespace (default: all namespaces)",
    },
    all: {
      type: "boolean",
      description: "show every workload with all its clusters, and everything that is unhealthy",
    },
    ...hubFlags,
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      choices: [...FORMATS, "wide"],
      default: "table",
      description: "output format: table, wide (with regions, ages and policies), json or yaml",
    },
  },
  async run({ flags, output, signal, clock, connect, environment }) {
    const { client, server, close } = await connect(hubKubeconfig(flags, environment));
    try {
      let last: Json | undefined;
      for (;;) {
        const nowMs = clock.now();
        const status = await readStatus({ client, server, clock, signal, namespace: flags.namespace });
        // A watch may have begun before the namespace was created.
        if (status.isNamespaceMissing && !flags.watch)
          throw new FlotillaError(
            "NotFound",
            noNamespace(flags.namespace, await namespacesLike(client, flags.namespace, signal)),
          );
        const steady = withoutTimes(status);
        if (last !== undefined && !equalJson(last, steady)) output.say("");
        if (last === undefined || !equalJson(last, steady))
          output.result(status as unknown as Json, () =>
            renderStatus(status, {
              nowMs,
              all: flags.all,
              wide: flags.output === "wide",
              width: output.width,
              paint: output.paint,
            }),
          );
        last = steady;
        if (!flags.watch) return;
        await sleep(clock, WATCH_MS, signal);
      }
    } catch (error) {
      if (!flags.watch || !signal.aborted) throw error; // Ctrl-C ends a watch normally.
    } finally {
      await close();
    }
  },
});

/** Ignores ages, which change on every read. */
function withoutTimes({ members, controllers, unhealthy, ...rest }: FleetStatus): Json {
  return {
    ...rest,
    controllers: controllers.state,
    unhealthy: {
      ...unhealthy,
      worst: unhealthy.worst.map((object) => (object.problem === NO_CONTROLLERS ? { ...object, reason: "" } : object)),
    },
    members: members.map(({ age: _age, heard: _heard, ...member }) => member),
  } as unknown as Json;
}

/** A similar name, as the end of a sentence. */
async function namespacesLike(client: Client, name = "", signal: AbortSignal): Promise<string> {
  const { nearestObject } = await import("../explain/nearest-object.ts");
  return nearestObject(client, { kind: Namespace, name }, "status", signal);
}
