/** `flotilla top`: CPU and memory usage of pods or nodes on all members. */
import { UsageError } from "@flotilla/base";
import type { Json, JsonObject } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { checkSelectors, requestTimeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { clusterFlags, findPlaces, readNames } from "../members/members-places.ts";
import { cpuText, memoryText, usageOf, withShares } from "../members/usage-rows.ts";
import type { Usage } from "../members/usage-rows.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { renderTable } from "../text-table.ts";

const FAILED = 1;
const TYPES: Readonly<Record<string, "pods" | "nodes">> = {
  pod: "pods",
  pods: "pods",
  po: "pods",
  node: "nodes",
  nodes: "nodes",
  no: "nodes",
};

export const topCommand = defineCommand({
  name: "top",
  summary: "show the CPU and memory usage of pods or nodes on all members",
  details:
    "Reads metrics.k8s.io of each member, which a metrics server serves. Members without one are reported, and the exit code is then 1.",
  example: [
    { says: "Pods of a namespace, on all members.", run: "flotilla top pods -n shop" },
    { says: "Nodes, the busiest first.", run: "flotilla top nodes --sort-by cpu" },
    { says: "All pods of one member.", run: "flotilla top pods -A --clusters member1" },
  ],
  args: [{ name: "TYPE", description: "pods or nodes", required: true, choices: ["pods", "nodes"] }],
  flags: {
    ...namespaceFlag,
    "all-namespaces": { type: "boolean", short: "A", description: "pods of all namespaces" },
    ...clusterFlags,
    selector: { type: "string", short: "l", value: "LABELS", description: "only objects with these labels" },
    "sort-by": {
      type: "string",
      value: "COLUMN",
      choices: ["name", "cpu", "memory"],
      default: "name",
      description: "name, cpu or memory; the highest usage comes first",
    },
    ...requestTimeoutFlag,
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const type = TYPES[(args[0] ?? "").toLowerCase()];
    if (!type) throw new UsageError(`'${args[0] ?? ""}' has no usage; run 'flotilla top pods' or 'flotilla top nodes'`);
    checkSelectors({ labelSelector: flags.selector });
    const [{ ask }, { createDiscovery }, { problemsOf }, { MAX_OBJECTS, objectsIn, readObjects }] = await Promise.all([
      import("../members/ask.ts"),
      import("../members/discovery.ts"),
      import("../members/outcome.ts"),
      import("../members/read-objects.ts"),
    ]);
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const asking = { client: hub.client, clock, responseTimeoutMs: flags["request-timeout"] * 1000, signal };
      const names = readNames(flags.clusters);
      const places = await findPlaces(hub.client, names, signal);
      const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
      const targets = [`${type}.metrics.k8s.io`, ...(type === "nodes" ? ["nodes"] : [])].map((word) => ({
        words: [word],
        names: [],
      }));
      const namespace = flags["all-namespaces"] ? undefined : chosenNamespace(flags, hub);
      const selection = { targets, namespace, labelSelector: flags.selector, accept: "application/json" };
      output.progress(`querying ${places.length === 1 ? (places[0]?.name ?? "") : `${places.length} clusters`}`);
      const gathered = await readObjects(asking, discovery, places, selection, { left: MAX_OBJECTS });
      const usages = gathered.answers.flatMap(({ place, answer }) => {
        const [metrics, nodes] = targets.map(({ words: [word] }) =>
          answer.found.filter((found) => found.word === word).flatMap(objectsIn),
        );
        return usagesAt(place.name, metrics ?? [], nodes ?? []);
      });
      sortUsages(usages, flags["sort-by"]);
      const withNamespace = type === "pods" && namespace === undefined;
      const { lines, notes } = problemsOf(gathered, {
        targets,
        areNamed: names.length > 0,
        namespace,
        known: discovery.known,
      });
      const without = gathered.answers
        .filter(({ answer }) => answer.unserved.length > 0)
        .map(({ place }) => place.name);
      const problems = [...lines, ...without.map((name) => `${name}: it serves no metrics; install a metrics server`)];
      output.result(usages as unknown as Json, () =>
        renderUsages(usages, { type, withNamespace, width: output.width, isPartial: problems.length > 0 }),
      );
      for (const line of [...notes, ...new Set(problems)]) output.warn(output.called(line));
      return problems.length > 0 ? FAILED : 0;
    } finally {
      await hub.close();
    }
  },
});

function usagesAt(cluster: string, metrics: readonly JsonObject[], nodes: readonly JsonObject[]): Usage[] {
  const byName = new Map(nodes.map((node) => [(node["metadata"] as JsonObject | undefined)?.["name"], node]));
  return metrics.map((object) => {
    const usage = usageOf(cluster, object);
    return withShares(usage, byName.get(usage.name));
  });
}

function sortUsages(usages: Usage[], column: string): void {
  if (column === "cpu") usages.sort((a, b) => b.cpuMilli - a.cpuMilli);
  if (column === "memory") usages.sort((a, b) => b.memoryBytes - a.memoryBytes);
}

function renderUsages(
  usages: readonly Usage[],
  {
    type,
    withNamespace,
    width,
    isPartial,
  }: { type: "pods" | "nodes"; withNamespace: boolean; width: number | undefined; isPartial: boolean },
): string {
  if (usages.length === 0) return isPartial ? "No metrics found in what was read." : "No metrics found.";
  const percent = (value: number | undefined): string => (value === undefined ? "-" : `${value}%`);
  const header = [
    "CLUSTER",
    ...(withNamespace ? ["NAMESPACE"] : []),
    "NAME",
    "CPU(cores)",
    ...(type === "nodes" ? ["CPU(%)"] : []),
    "MEMORY(bytes)",
    ...(type === "nodes" ? ["MEMORY(%)"] : []),
  ];
  const rows = usages.map((usage) => [
    usage.cluster,
    ...(withNamespace ? [usage.namespace ?? ""] : []),
    usage.name,
    cpuText(usage.cpuMilli),
    ...(type === "nodes" ? [percent(usage.cpuPercent)] : []),
    memoryText(usage.memoryBytes),
    ...(type === "nodes" ? [percent(usage.memoryPercent)] : []),
  ]);
  return renderTable(header, rows, 3, width);
}
