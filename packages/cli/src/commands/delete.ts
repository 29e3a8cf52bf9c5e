/** `flotilla delete`: deletes objects on the hub, and so on their members. */
import { HUB } from "@flotilla/apimachinery";
import { UsageError, textOf, objectOf } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { defineCommand } from "../command.ts";
import type { Deletion } from "../explain/wait-gone.ts";
import type { ManifestNames, ManifestTools } from "../interpret/read-manifests.ts";
import { manifestFlags, readSeconds, timeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { readTargets } from "../members/targets.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const USAGE =
  "'flotilla delete cloneset/web', 'flotilla delete deployment web cart', 'flotilla delete -f web.yaml' or 'flotilla delete -k shop'";

export const deleteCommand = defineCommand({
  name: "delete",
  summary: "show where objects run, ask for confirmation, and delete them on the hub and its members",
  details:
    "An object that a policy propagates is deleted on its members too, unless the policy has " +
    "preserveResourcesOnDeletion. Deleting a Namespace deletes everything in it, and deleting a " +
    "CustomResourceDefinition all objects of its kind, with their copies on members: the confirmation " +
    "names them. Deleting a policy deletes no object.",
  example: [
    { says: "See where it runs, and confirm.", run: "flotilla delete cloneset/web -n shop" },
    {
      says: "In a script: delete what a file has, and wait until it is gone.",
      run: "flotilla delete -f shop/ --yes --wait",
    },
  ],
  args: [
    {
      name: "TYPE/NAME",
      description: "the objects as in kubectl, or their TYPE",
      required: false,
      completes: "resource",
    },
    { name: "NAME", description: "names, if the first argument is only a TYPE", required: false, repeated: true },
  ],
  flags: {
    ...manifestFlags,
    ...namespaceFlag,
    yes: { type: "boolean", short: "y", description: "delete without confirmation" },
    "ignore-not-found": { type: "boolean", description: "do not fail if an object does not exist" },
    wait: { type: "boolean", description: "wait until the objects are gone from the hub and the members" },
    timeout: {
      type: "string",
      value: "DURATION",
      description: `wait, at most this long, for example 90s or 5m (default with --wait: ${timeoutFlag.timeout.default})`,
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, clock, connect, environment, readInput, terminal }) {
    if ((args.length === 0) === (flags.filename.length === 0 && flags.kustomize === undefined))
      throw new UsageError(`name objects or files: ${USAGE}`);
    if (flags.filename.includes("-") && !flags.yes)
      throw new UsageError("cannot ask for confirmation because -f - reads standard input; specify --yes");
    const isWaiting = flags.wait || flags.timeout !== undefined;
    const waitSeconds = readSeconds("--timeout", flags.timeout ?? timeoutFlag.timeout.default);
    const { runDelete } = await import("../explain/run-delete.ts");
    const hub = await connect(hubKubeconfig(flags, environment));
    const fallback = chosenNamespace(flags, hub);
    try {
      const deletions =
        args.length > 0
          ? await named({ client: hub.client, signal, notify: output.warn }, args, fallback)
          : await inFiles(hub.client, flags, fallback, { readInput, signal, environment });
      return await runDelete(
        {
          deletions,
          yes: flags.yes,
          ignoreNotFound: flags["ignore-not-found"],
          waitMs: isWaiting ? waitSeconds * 1000 : undefined,
        },
        { client: hub.client, clock, signal, output, terminal },
      );
    } finally {
      output.progress("");
      await hub.close();
    }
  },
});

async function named(
  { client, signal, notify }: { client: Client; signal: AbortSignal; notify(text: string): void },
  args: readonly string[],
  namespace: string,
): Promise<Deletion[]> {
  const { resolveNamed } = await import("../explain/resolve-type.ts");
  const targets = readTargets(args, USAGE);
  if (targets.some(({ names }) => names.length === 0)) throw new UsageError(`name the objects: ${USAGE}`);
  const deletions: Deletion[] = [];
  for (const { words, names } of targets)
    for (const word of words) {
      for (const name of names) {
        const [kind] = await resolveNamed(client, { type: word, name, namespace }, signal, notify);
        deletions.push({ kind, namespace: kind.scope === "Namespaced" ? namespace : undefined, name });
      }
    }
  return deletions;
}

/** In reverse order: what was applied last may need what was applied first. */
async function inFiles(
  client: Client,
  files: ManifestNames,
  fallback: string,
  input: ManifestTools,
): Promise<Deletion[]> {
  const [{ readManifests }, { createKindResolver }] = await Promise.all([
    import("../interpret/read-manifests.ts"),
    import("@flotilla/client"),
  ]);
  const manifests = await readManifests(files, input);
  const kinds = createKindResolver({ client, cluster: HUB });
  const deletions: Deletion[] = [];
  for (const object of manifests.toReversed()) {
    const kind = await kinds.resolve({ apiVersion: textOf(object["apiVersion"]), kind: textOf(object["kind"]) });
    const metadata = objectOf(object["metadata"]);
    const namespace = kind.scope === "Namespaced" ? textOf(metadata["namespace"]) || fallback : undefined;
    deletions.push({ kind, namespace, name: textOf(metadata["name"]) });
  }
  return deletions;
}
