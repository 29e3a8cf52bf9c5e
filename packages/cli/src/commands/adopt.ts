/** `flotilla adopt`: brings existing workloads on members under hub management, without changing a pod. */
import { Cluster } from "@flotilla/karmada";
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { defineCommand } from "../command.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const adoptCommand = defineCommand({
  name: "adopt",
  summary: "bring existing workloads on members under hub management, without changing a pod",
  details:
    "Creates a template and a policy on the hub from what members run, and stops if a pod would change. Safe to repeat.",
  example: [
    {
      says: "Preview the changes.",
      run: "flotilla adopt cloneset web -n shop --from member1,member2 --dry-run",
    },
    {
      says: "Adopt two objects with the ConfigMaps and Secrets they depend on.",
      run: "flotilla adopt cloneset/web service/web -n shop --from member1 --deps",
    },
    {
      says: "Adopt every Deployment in a namespace.",
      run: "flotilla adopt deployment --all -n shop --from member1",
    },
    {
      says: "Print the objects the hub would get, where members differ.",
      run: "flotilla adopt deployment web --from member1,member2 --overrides --dry-run -o yaml",
    },
  ],
  args: [
    { name: "TYPE", description: "the type as in kubectl, or TYPE/NAME", required: true, completes: "resource" },
    { name: "NAME", description: "its name; may be repeated", required: false, completes: "name", repeated: true },
  ],
  flags: {
    from: {
      type: "string",
      value: "A,B",
      repeated: true,
      completes: "clusters",
      description: "the members that run it; may be repeated",
    },
    ...namespaceFlag,
    selector: {
      type: "string",
      short: "l",
      value: "SELECTOR",
      description: "adopt the objects of the type with these labels",
    },
    all: { type: "boolean", description: "adopt all objects of the type in the namespace" },
    deps: {
      type: "boolean",
      description: "also adopt the ConfigMaps, Secrets, service accounts and claims it depends on",
    },
    overrides: {
      type: "boolean",
      description: "where members differ, keep each member's values with an OverridePolicy",
    },
    scope: {
      type: "string",
      choices: ["fleet", "cluster"],
      description:
        "whether partition, budgets and ordinals apply to the whole fleet or to each cluster (default: the object's own setting, else fleet)",
    },
    policy: {
      type: "string",
      value: "NAME",
      description: "an existing policy, which must keep the object where it is (default: create one)",
    },
    force: { type: "boolean", description: "continue even if running workloads would change" },
    "dry-run": {
      type: "boolean",
      description: "show what would change and create nothing; with -o yaml print the objects the hub would get",
    },
    wait: {
      type: "integer",
      value: "SECONDS",
      default: 60,
      minimum: 1,
      maximum: 3600,
      description: "how long to wait for the hub, and for the members",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const clusters = [
      ...new Set(
        flags.from
          .flatMap((names) => names.split(","))
          .map((name) => name.trim())
          .filter((name) => name !== ""),
      ),
    ];
    if (clusters.length === 0) throw new UsageError("--from MEMBER is required: the members that run it");
    if (flags.all && flags.selector !== undefined) throw new UsageError("specify either --all or -l");
    // Loaded lazily, so that other commands and the help do not load the planners.
    const [
      { findObjects, readSelections },
      { createMemberReader },
      { manifestsOf, planAdoption, readInterpreter },
      { carryOut },
      { adviceFor, describeRefusals, renderAdopted, renderForecast },
      { isRefused },
      { titleOf },
    ] = await Promise.all([
      import("../adopt/select.ts"),
      import("../adopt/member-reader.ts"),
      import("../adopt/plan-adoption.ts"),
      import("../adopt/carry-out.ts"),
      import("../adopt/render-adoption.ts"),
      import("../adopt/forecast.ts"),
      import("../adopt/strip.ts"),
    ]);
    const selections = readSelections(args, flags.all || flags.selector !== undefined);
    const hub = await connect(hubKubeconfig(flags, environment));
    const { client } = hub;
    try {
      output.progress("reading the members");
      await checkMembers(client, clusters, signal);
      const readers = new Map(clusters.map((cluster) => [cluster, createMemberReader(client, cluster, signal)]));
      const where = { readers, namespace: chosenNamespace(flags, hub), labelSelector: flags.selector };
      const found = (
        await Promise.all(selections.map((selection) => findObjects(client, selection, where, signal)))
      ).flat();
      const { interpreter, close: closeInterpreter } = await readInterpreter(client, clock, signal);
      try {
        output.progress("planning");
        const options = {
          readers,
          deps: flags.deps,
          overrides: flags.overrides,
          force: flags.force,
          scope: flags.scope !== undefined ? (flags.scope as "cluster" | "fleet") : undefined,
          policy: flags.policy,
        };
        const plan = await planAdoption(client, found, options, interpreter, clock, signal);
        output.progress("");
        for (const title of plan.adopted) output.say(`${title} is already adopted`);
        const resources = plan.forecasts.map(({ resource }) => resource);
        if (resources.length === 0) return output.result({ adopted: [] }, () => "Nothing to do.");
        const refused = plan.forecasts.filter(isRefused);
        if (refused.length > 0 && !flags.force) {
          output.say(renderForecast(plan, output.width));
          throw new FlotillaError("Adopt", `${describeRefusals(refused)}; nothing was changed${adviceFor(refused)}`);
        }
        if (flags["dry-run"])
          return output.result(
            { apiVersion: "v1", kind: "List", items: manifestsOf(resources) },
            () => `${renderForecast(plan, output.width)}\n\nNothing was changed (--dry-run).`,
          );
        output.say(`${renderForecast(plan, output.width)}\n`);
        const adopted = await carryOut(resources, {
          client,
          readers,
          interpreter,
          force: flags.force,
          waitMs: flags.wait * 1000,
          clock,
          signal,
          progress: (text) => output.progress(text),
        });
        output.progress("");
        output.result(
          {
            adopted: adopted.map(({ resource, members }) => ({ resource: titleOf(resource.template), members })),
          } as unknown as Json,
          () => renderAdopted(adopted),
        );
      } finally {
        await closeInterpreter();
      }
    } finally {
      await hub.close();
    }
  },
});

async function checkMembers(client: Client, names: readonly string[], signal: AbortSignal): Promise<void> {
  for (const name of names)
    if (!(await find(client, Cluster, { cluster: HUB, name }, { signal })))
      throw new UsageError(`member ${name} not found; run 'flotilla status' to list the members`);
}
