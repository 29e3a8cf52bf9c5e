/** `flotilla wait`: waits until objects are healthy on their members, or gone from the hub and its members. */
import { HUB } from "@flotilla/apimachinery";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { AnyKind } from "@flotilla/client";
import { eachObject, find } from "@flotilla/client";
import { defineCommand } from "../command.ts";
import { checkSelectors, readSeconds, timeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { readTargets } from "../members/targets.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const USAGE =
  "'flotilla wait cloneset/web', 'flotilla wait deployment web cart' or 'flotilla wait deployment,cloneset --all'";

export const waitCommand = defineCommand({
  name: "wait",
  summary: "wait until objects are on their members and healthy there, complete, or deleted",
  details:
    "Healthy means: scheduled, on every member in its newest version, and healthy there by the rules of " +
    "its kind, with every pod ready. Pods that a partition or OnDelete holds back are counted. A Job is " +
    "healthy while it runs, and the output says how much of it is " +
    "done; complete means that a Job, BroadcastJob or Workflow has succeeded on every member. Deleted means: " +
    "gone from the hub and from every member. Fails at the timeout, with what is missing. For other " +
    "conditions use 'kubectl wait'.",
  example: [
    { says: "Wait until a release is healthy on all members.", run: "flotilla wait cloneset/web -n shop" },
    {
      says: "Wait until a Job has succeeded on all members.",
      run: "flotilla wait job/report --for complete --timeout 30m",
    },
    {
      says: "Wait up to five minutes until it is gone from the hub and its members.",
      run: "flotilla wait cloneset/web --for delete --timeout 5m",
    },
    {
      says: "Wait for all Deployments and CloneSets of a namespace, or for those with a label.",
      run: "flotilla wait deployment,cloneset --all -n shop",
    },
  ],
  args: [
    {
      name: "TYPE/NAME",
      description: "the objects as in kubectl, or their TYPE",
      required: true,
      completes: "resource",
    },
    { name: "NAME", description: "names, if the first argument is only a TYPE", required: false, repeated: true },
  ],
  flags: {
    for: {
      type: "string",
      value: "STATE",
      choices: ["healthy", "complete", "delete"],
      default: "healthy",
      description: "the state to wait for: healthy, complete (of a Job that has succeeded) or delete",
    },
    all: { type: "boolean", description: "all objects of the types in the namespace" },
    selector: {
      type: "string",
      short: "l",
      value: "SELECTOR",
      description: "the objects of the types with these labels",
    },
    ...namespaceFlag,
    ...timeoutFlag,
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const timeoutMs = readSeconds("--timeout", flags.timeout) * 1000;
    const targets = readTargets(args, USAGE);
    const isNamed = targets.every(({ names }) => names.length > 0);
    const { all, selector } = flags;
    if (all && selector !== undefined) throw new UsageError("--all and -l exclude each other");
    const isMany = all || selector !== undefined;
    if (isMany && isNamed) throw new UsageError(`${all ? "--all" : "-l"} needs types without names: ${USAGE}`);
    if (!isMany && !isNamed) throw new UsageError(`name the objects, or add --all or -l SELECTOR: ${USAGE}`);
    checkSelectors({ labelSelector: selector });
    const [
      { resolveNamed, resolveVersions },
      { createHubInterpreter },
      { readCustomizations },
      { waitUntilApplied },
      { podCauseOf },
      { missingControllers },
      { nearestObject },
      { isRun, renderHealthy },
    ] = await Promise.all([
      import("../explain/resolve-type.ts"),
      import("../explain/hub-interpreter.ts"),
      import("../explain/read-snapshot.ts"),
      import("../explain/wait-applied.ts"),
      import("../health/look-at-pods.ts"),
      import("../health/controllers-state.ts"),
      import("../explain/nearest-object.ts"),
      import("../members/run-progress.ts"),
    ]);
    const hub = await connect(hubKubeconfig(flags, environment));
    const { client } = hub;
    const namespaceOf = ({ scope }: AnyKind): string | undefined =>
      scope === "Namespaced" ? chosenNamespace(flags, hub) : undefined;
    try {
      const wanted: { kind: AnyKind; name: string }[] = [];
      for (const { words, names } of targets)
        for (const word of words) {
          if (isMany) {
            const [kind] = await resolveVersions(client, word, signal);
            const options = { cluster: HUB, namespace: namespaceOf(kind), labelSelector: selector, signal };
            for await (const { metadata } of eachObject(client, kind, options))
              wanted.push({ kind, name: metadata.name });
            continue;
          }
          for (const name of names) {
            const place = chosenNamespace(flags, hub);
            const [kind] = await resolveNamed(client, { type: word, name, namespace: place }, signal, output.warn);
            wanted.push({ kind, name });
          }
        }
      if (wanted.length === 0 && flags.for !== "delete")
        throw new FlotillaError(
          "NotFound",
          `the hub has no such object${selector === undefined ? "" : ` with the labels ${selector}`} to wait for`,
        );
      const endless = wanted.find(({ kind }) => !isRun(kind));
      if (flags.for === "complete" && endless)
        throw new UsageError(
          `${endless.kind.kind} ${endless.name} does not run to completion; wait for --for healthy instead`,
        );
      if (flags.for === "delete") {
        const { waitUntilGone } = await import("../explain/wait-gone.ts");
        const deletions = wanted.map(({ kind, name }) => ({ kind, namespace: namespaceOf(kind), name }));
        await waitUntilGone(deletions, timeoutMs, { client, clock, signal, output });
      } else {
        const templates = await Promise.all(
          wanted.map(async ({ kind, name }) => {
            const key = { cluster: HUB, namespace: namespaceOf(kind), name };
            const object = await find(client, kind, key, { signal });
            if (!object)
              throw new FlotillaError(
                "NotFound",
                `${kind.kind} ${name} not found on the hub${await nearestObject(client, { kind, name, namespace: namespaceOf(kind) }, "wait", signal)}`,
              );
            return object;
          }),
        );
        const untilComplete = flags.for === "complete";
        const { interpreter, close } = createHubInterpreter(await readCustomizations(client, signal), clock);
        try {
          await waitUntilApplied(templates, {
            asking: { client, clock, responseTimeoutMs: 10_000, signal },
            client,
            interpreter,
            timeoutMs,
            podCause: (copy, isCertain) => podCauseOf(copy, { client, clock, signal, isCertain }),
            hubCause: () => missingControllers({ client, clock, signal }),
            onCause: (text) => output.say(text),
            untilComplete,
            onDone: (resource, cluster, left) =>
              output.say(
                untilComplete ? `${resource} is complete on ${cluster}` : renderHealthy(resource, cluster, left),
              ),
            progress: (text) => output.progress(text),
          });
        } finally {
          await close();
        }
      }
      output.progress("");
      if (output.format !== "table")
        output.result(
          wanted.map(({ kind, name }) => ({ kind: kind.kind, name, state: flags.for })),
          () => "",
        );
    } finally {
      output.progress("");
      await hub.close();
    }
  },
});
