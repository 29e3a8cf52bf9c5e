/** `flotilla get`: shows objects of all members, with the cluster each is on. */
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { clusterFlags } from "../members/members-places.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import { requestTimeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";

export const getCommand = defineCommand({
  name: "get",
  summary: "show objects of all members, with the cluster each is on",
  details:
    "Types are named as in kubectl: pods, deploy, clonesets.apps.kruise.io, all. Members are queried in " +
    "parallel through the hub. A member that does not respond is reported on standard error with the " +
    "reason, and the exit code is 1; the objects of the others are shown. A type that only some members " +
    "serve is shown for those.",
  example: [
    { says: "The pods of every member, in the namespace shop.", run: "flotilla get pods -n shop" },
    {
      says: "Two types on two members, with more columns.",
      run: "flotilla get cloneset,svc -n shop --clusters member1,member2 -o wide",
    },
    {
      says: "One Deployment on every member and on the hub.",
      run: "flotilla get deployment/web -n shop --hub",
    },
    { says: "Watch the pods with a label, on all members.", run: "flotilla get pods -A -l app=web --watch" },
    {
      says: "One value of each object.",
      run: "flotilla get pods -A -o custom-columns=POD:.metadata.name,NODE:.spec.nodeName",
    },
  ],
  args: [
    {
      name: "TYPE",
      description: "the type as in kubectl, several separated by commas, or TYPE/NAME",
      required: true,
      completes: "resource",
    },
    {
      name: "NAME",
      description: "names (default: all objects of the type)",
      required: false,
      repeated: true,
      completes: "name",
    },
  ],
  flags: {
    ...namespaceFlag,
    "all-namespaces": { type: "boolean", short: "A", description: "show the objects of all namespaces" },
    ...clusterFlags,
    hub: { type: "boolean", description: "also show the hub's own objects; their CLUSTER is 'hub'" },
    selector: { type: "string", short: "l", value: "SELECTOR", description: "only objects with these labels" },
    "field-selector": {
      type: "string",
      value: "SELECTOR",
      description: "only objects with these field values, as far as the members' API servers support it",
    },
    watch: { type: "boolean", short: "w", description: "show the objects, and then every change until Ctrl-C" },
    "output-watch-events": { type: "boolean", description: "with --watch: add a first column with the event type" },
    "show-labels": { type: "boolean", description: "add a last column with the labels" },
    "no-headers": { type: "boolean", description: "omit the header line" },
    "ignore-not-found": { type: "boolean", description: "do not fail if an object does not exist" },
    ...requestTimeoutFlag,
    ...hubFlags,
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      default: "table",
      offers: ["table", "wide", "json", "yaml", "name", "jsonpath=", "go-template=", "custom-columns="],
      description:
        "table, wide, json, yaml, name, jsonpath=TEMPLATE, go-template=TEMPLATE or custom-columns=HEADER:.path,…",
    },
  },
  async run({ args, flags, output, signal, clock, connect, environment, terminal }) {
    if (flags["all-namespaces"] && flags.namespace !== undefined) throw new UsageError("specify either -n or -A");
    // Loaded lazily, so that the help does not load it.
    const { runGet } = await import("../members/run-get.ts");
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      return await runGet(
        {
          args,
          namespace: !flags["all-namespaces"] ? chosenNamespace(flags, hub) : undefined,
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
          asking: { client: hub.client, clock, responseTimeoutMs: flags["request-timeout"] * 1000, signal },
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
