/**
 * `flotilla plan`: shows what would change on each member if manifests were applied, or if a cluster were missing.
 * Read-only.
 */
import { UsageError } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { manifestFlags } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

/** 0 without changes, 1 with changes, more for a failure; `--exit-on` says which changes count. */
const CHANGES = 1;
const FAILED = 2;
/** With `--fail-on-problems`. */
const PROBLEMS = 3;

export const planCommand = defineCommand({
  name: "plan",
  summary: "show what would change on each member before you apply it",
  details:
    "Nothing is written: the hub tries the manifests in a dry run, in the order of 'flotilla apply', and " +
    "the scheduler runs locally. The exit code is 0 if applying would change nothing on any member, also " +
    "if it would change the hub; 1 if it would change a member, or if the effect on members is not " +
    "planned; and 2 on failure. The plan shows every wave of a template that a RolloutStrategy releases, with " +
    "its gates; the changes on members are those of the first step. With --exit-on any the exit code is 1 also for a " +
    "change of the hub alone, as for kubectl diff. With --fail-on-problems it is 3 if the plan has " +
    "problems, such as a workload that fits no member.",
  example: [
    { says: "Show what applying a file would change.", run: "flotilla plan -f web.yaml" },
    { says: "Plan a folder, with JSON output.", run: "flotilla plan -f shop/ --recursive -o json" },
    { says: "Show where replicas would move if a member left.", run: "flotilla plan --without-cluster member2" },
    {
      says: "In a pipeline: exit with 3 if the plan has problems.",
      run: "flotilla plan -f shop/ --fail-on-problems",
    },
    {
      says: "Exit with 1 also if only the hub would change, as kubectl diff does.",
      run: "flotilla plan -f shop/ --exit-on any",
    },
    { says: "Plan manifests from standard input.", run: "cat policy.yaml | flotilla plan -f - -n shop" },
  ],
  args: [],
  failureCode: FAILED,
  flags: {
    ...manifestFlags,
    "without-cluster": {
      type: "string",
      value: "NAME",
      repeated: true,
      completes: "cluster",
      description: "plan as if this member had left the fleet; may be repeated",
    },
    "fail-on-problems": {
      type: "boolean",
      description: "exit with 3 if the plan has problems, whether or not something would change",
    },
    "exit-on": {
      type: "string",
      choices: ["members", "any"],
      default: "members",
      description: "the changes that exit with 1: members, or any (also those of the hub alone)",
    },
    ...namespaceFlag,
    ...hubFlags,
  },
  async run({ flags, output, signal, clock, connect, environment, readInput }) {
    const without = flags["without-cluster"];
    if (flags.filename.length + without.length === 0 && flags.kustomize === undefined)
      throw new UsageError("specify what would change: -f FILE, -k DIR, or --without-cluster NAME");
    // Loaded lazily, so that other commands and the help do not load the planners.
    const [
      { planInput, mayChangeMembers },
      { withUnreachable: withAway, warnOfMissingControllers },
      { renderPlan },
      { readManifests },
    ] = await Promise.all([
      import("../explain/plan-input.ts"),
      import("../explain/unreachable-members.ts"),
      import("../explain/render-plan.ts"),
      import("../interpret/read-manifests.ts"),
    ]);
    const manifests = await readManifests(flags, { readInput, signal, environment });
    const hub = await connect(hubKubeconfig(flags, environment));
    const { client } = hub;
    try {
      output.progress("planning");
      const plan = await withAway(
        await planInput(client, { manifests, without, namespace: chosenNamespace(flags, hub) }, clock, signal),
        without,
        { client, clock, signal },
      );
      output.progress("");
      const changesMembers = mayChangeMembers(plan);
      output.result({ ...plan, changesMembers } as unknown as Json, () => renderPlan(plan, output.width));
      await warnOfMissingControllers(plan, { client, clock, signal }, output);
      if (flags["fail-on-problems"] && plan.problems.length > 0) return PROBLEMS;
      return changesMembers || (flags["exit-on"] === "any" && plan.hub.length > 0) ? CHANGES : 0;
    } finally {
      await hub.close();
    }
  },
});
