/** `flotilla apply`: shows what would change on each member, asks for confirmation, and applies it to the hub. */
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { manifestFlags, readSeconds, timeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const applyCommand = defineCommand({
  name: "apply",
  summary: "show what would change on each member, ask for confirmation, and apply it",
  details:
    "Shows the same plan as 'flotilla plan'. If planning fails, nothing is applied. Objects are applied as " +
    "by 'kubectl apply', so both can be used on one object, and unknown fields are rejected. Namespaces, " +
    "CRDs, interpreter customizations and override policies are applied before policies and templates, so " +
    "that the first copy on a member is the intended one. Templates that the hub has and no policy " +
    "propagates yet are changed before the policies. Other objects keep their order.",
  example: [
    { says: "Review the plan and confirm it.", run: "flotilla apply -f web.yaml" },
    {
      says: "In a script: apply without confirmation, and continue only when all members are healthy.",
      run: "flotilla apply -f shop/ --yes --wait",
    },
    { says: "Apply what a kustomization builds.", run: "flotilla apply -k overlays/production" },
    { says: "From standard input, into a namespace.", run: "cat web.yaml | flotilla apply -f - -n shop --yes" },
  ],
  args: [],
  flags: {
    ...manifestFlags,
    ...namespaceFlag,
    yes: { type: "boolean", short: "y", description: "apply without confirmation" },
    wait: { type: "boolean", description: "wait until the members have it and are healthy" },
    ...timeoutFlag,
    ...hubFlags,
  },
  async run({ flags, output, signal, clock, connect, environment, readInput, terminal }) {
    if (flags.filename.length === 0 && flags.kustomize === undefined)
      throw new UsageError("specify what to apply: -f FILE, or -k DIR");
    if (flags.filename.includes("-") && !flags.yes)
      throw new UsageError("cannot ask for confirmation because -f - reads standard input; specify --yes");
    const waitSeconds = readSeconds("--timeout", flags.timeout);
    // Loaded lazily, so that other commands and the help do not load the planners.
    const [{ runApply }, { readManifests }] = await Promise.all([
      import("../explain/run-apply.ts"),
      import("../interpret/read-manifests.ts"),
    ]);
    const manifests = await readManifests(flags, { readInput, signal, environment });
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const asking = { client: hub.client, clock, responseTimeoutMs: 10_000, signal };
      return await runApply(
        {
          manifests,
          namespace: chosenNamespace(flags, hub),
          yes: flags.yes,
          waitMs: flags.wait ? waitSeconds * 1000 : undefined,
        },
        { asking, client: hub.client, output, terminal },
      );
    } finally {
      await hub.close();
    }
  },
});
