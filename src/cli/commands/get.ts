/** `flotilla get`: objects of all members, with the cluster that each is on. */
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { clusterFlags } from "../members/places.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { namespaceFlag, patienceFlag } from "../members/flags.ts";

export const getCommand = defineCommand({
  name: "get",
  summary: "show objects of all members, with the cluster that each is on",
  details:
    "Types are named as kubectl names them: pods, deploy, clonesets.apps.kruise.io, all. Members are asked side by side through the hub. One that does not answer is named on standard error with the reason, and the exit code is 1; what the others have is shown. A type that only some members serve is shown for those.",
  example: [
    { says: "The pods of every member, in the namespace shop.", run: "flotilla get pods -n shop" },
    {
      says: "Two types on two members, with more columns.",
      run: "flotilla get cloneset,svc -n shop --clusters member1,member2 -o wide",
    },
    {
      says: "One Deployment wherever it is, and what the hub has of it.",
      run: "flotilla get deployment/web -n shop --hub",
    },
    { says: "Follow the pods with a label, on all members.", run: "flotilla get pods -A -l app=web --watch" },
    {
      says: "One value of each object.",
      run: "flotilla get pods -A -o custom-columns=POD:.metadata.name,NODE:.spec.nodeName",
    },
  ],
  args: [
    {
      name: "TYPE",
      description: "the type as kubectl names it, several with commas between, or TYPE/NAME",
      required: true,
      completes: "resource",
    },
    {
      name: "NAME",
      description: "names; all objects of the type when there are none",
      required: false,
      repeated: true,
      completes: "name",
    },
  ],
  flags: {
    ...namespaceFlag,
    "all-namespaces": { type: "boolean", short: "A", description: "show the objects of all namespaces" },
    ...clusterFlags,
    hub: { type: "boolean", description: "also show what the hub itself has; its CLUSTER is 'hub'" },
    selector: { type: "string", short: "l", value: "SELECTOR", description: "only objects with these labels" },
    "field-selector": {
      type: "string",
      value: "SELECTOR",
      description: "only objects whose fields fit, as the members' servers support it",
    },
    watch: { type: "boolean", short: "w", description: "show what is there, and then every change until Ctrl-C" },
    "output-watch-events": { type: "boolean", description: "with --watch: a first column that says what happened" },
    "show-labels": { type: "boolean", description: "a last column with the labels" },
    "no-headers": { type: "boolean", description: "leave out the line with the names of the columns" },
    "ignore-not-found": { type: "boolean", description: "an object that is nowhere is no failure" },
    ...patienceFlag,
    ...hubFlags,
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      default: "table",
      offers: ["table", "wide", "json", "yaml", "name", "jsonpath=", "custom-columns="],
      description: "table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=HEADER:.path,…",
    },
  },
  async run({ args, flags, output, signal, clock, connect, environment, terminal }) {
    if (flags["all-namespaces"] && flags.namespace !== undefined) throw new UsageError("give -n or -A, not both");
    // Loaded here, so that the help does not pay for it.
    const { runGet } = await import("../members/run-get.ts");
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      return await runGet(
        {
          args,
          namespace: !flags["all-namespaces"] ? (flags.namespace ?? hub.namespace ?? "default") : undefined,
          clusters: flags.clusters,
          hub: flags.hub,
          labelSelector: flags.selector,
          fieldSelector: flags["field-selector"],
          watch: flags.watch,
          showEvents: flags["output-watch-events"],
          showLabels: flags["show-labels"],
          noHeaders: flags["no-headers"],
          ignoreNotFound: flags["ignore-not-found"],
          format: flags.output,
        },
        {
          asking: { client: hub.client, clock, patienceMs: flags["request-timeout"] * 1000, signal },
          client: hub.client,
          output,
          terminal,
        },
      );
    } finally {
      await hub.close();
    }
  },
});
