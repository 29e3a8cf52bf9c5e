/** `flotilla doctor`: checks a running fleet, reports problems, and prints the commands that fix them. Read-only. */
import { Cluster } from "@flotilla/karmada";
import { ManagedCluster } from "@flotilla/ocm";
import { didYouMean, UsageError } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import type { Stores } from "../command.ts";
import { defaultDataDirectory } from "../data-directory.ts";
import type { HubLists } from "../doctor/context.ts";
import { clusterFlags, readNames } from "../members/members-places.ts";
import { hubDataDirectory, hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";
import type { Output } from "../output.ts";

/** Problems, or checks that could not run: a pipeline must not pass because nothing was checked. */
const NOT_WELL = 1;

export const doctorCommand = defineCommand({
  name: "doctor",
  summary: "diagnose problems of the fleet, and suggest a fix for each",
  details:
    "Every check reports a result, what was observed, and the commands that fix it. A check that could not " +
    "run reports so. The exit code is 0 if every check ran and found no problem (warnings, and checks that " +
    "ran partly, are allowed), and 1 with problems or if a check could not run; --only leaves out checks " +
    "that you may not run. With --store it checks the store of a stopped fleet instead; 'flotilla fsck' " +
    "repairs it.",
  example: [
    { says: "Run all checks.", run: "flotilla doctor" },
    { says: "Check one member and what is propagated to it.", run: "flotilla doctor --clusters member2" },
    { says: "Run some checks, with JSON output.", run: "flotilla doctor --only certificates,finalizers -o json" },
    { says: "List the checks.", run: "flotilla doctor --list" },
    { says: "Check the store of a stopped fleet for damage.", run: "flotilla doctor --store" },
  ],
  args: [],
  flags: {
    only: {
      type: "string",
      value: "NAME",
      repeated: true,
      description: "run only these checks, comma-separated; may be repeated",
    },
    ...clusterFlags,
    "stuck-after": {
      type: "integer",
      value: "SECONDS",
      default: 60,
      maximum: 86_400,
      description: "how long an operation may take before it counts as stuck",
    },
    timeout: {
      type: "integer",
      value: "SECONDS",
      default: 20,
      minimum: 1,
      maximum: 600,
      description: "how long one check may take",
    },
    list: { type: "boolean", description: "list the checks instead of running them" },
    store: {
      type: "boolean",
      description: "check only the store in the data directory, for damage; the fleet must be stopped",
    },
    ...hubFlags,
  },
  async run({ flags, output, signal, clock, connect, environment, stores }) {
    if (flags.store) return checkStore(flags.data ?? defaultDataDirectory(environment), output, stores);
    const [
      { CHECKS },
      { runChecks },
      { renderDoctor, renderList },
      { createHubLists },
      { slimObject },
      { localEnvironment },
    ] = await Promise.all([
      import("../doctor/checks/index.ts"),
      import("../doctor/run-checks.ts"),
      import("../doctor/render-doctor.ts"),
      import("../doctor/context.ts"),
      import("../doctor/slim-objects.ts"),
      import("../doctor/local-environment.ts"),
    ]);
    const wanted = readNames(flags.only);
    const unknown = wanted.find((name) => !CHECKS.some((check) => check.name === name));
    if (unknown !== undefined)
      throw new UsageError(
        `unknown check '${unknown}'${didYouMean(
          unknown,
          CHECKS.map(({ name }) => name),
        )}; run 'flotilla doctor --list' to list the checks`,
      );
    const checks = wanted.length === 0 ? CHECKS : CHECKS.filter(({ name }) => wanted.includes(name));
    if (flags.list) {
      output.result({ checks: checks.map(({ name, summary }) => ({ name, summary })) }, () =>
        renderList(checks, output),
      );
      return 0;
    }
    const access = hubKubeconfig(flags, environment);
    const { client, server, close } = await connect(access);
    try {
      output.progress("checking the fleet");
      const only = readNames(flags.clusters);
      const lists = createHubLists({ client, signal, slim: slimObject });
      if (only.length > 0) await checkNames(only, lists);
      const data = await hubDataDirectory(flags, environment);
      const report = await runChecks(
        checks,
        {
          client,
          server,
          access,
          data,
          clock,
          signal,
          only: only.length > 0 ? new Set(only) : undefined,
          localEnvironment,
          lists,
        },
        { stuckAfterMs: flags["stuck-after"] * 1000, limitMs: flags.timeout * 1000 },
      );
      output.progress("");
      output.result(report as unknown as Json, () => output.called(renderDoctor(report, output)));
      const isChecked = report.checks.every(({ verdict }) => verdict !== "unknown");
      return report.problems === 0 && isChecked ? 0 : NOT_WELL;
    } finally {
      await close();
    }
  },
});

/** Reports like `flotilla fsck`, and never repairs. */
async function checkStore(data: string, output: Output, stores: Stores): Promise<number> {
  const { isDamaged, renderStore } = await import("../store/render-store.ts");
  output.progress(`checking ${data}`);
  const report = await stores.check(data, undefined, (rows) => output.progress(`checking ${data}: ${rows} values`));
  const found = isDamaged(report);
  output.result(JSON.parse(JSON.stringify({ data, ...report })) as Json, () =>
    output.called(renderStore(data, report) + (found ? `\nfix: flotilla fsck --data ${data}` : "")),
  );
  return found ? NOT_WELL : 0;
}

/** Throws `UsageError` for a name that is neither a Cluster nor a ManagedCluster. */
async function checkNames(names: readonly string[], lists: HubLists): Promise<void> {
  const [clusters, managed] = await Promise.all([lists.all(Cluster), lists.all(ManagedCluster)]);
  const known = new Set([...clusters, ...managed].map(({ metadata }) => metadata.name));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new UsageError(
      `member '${unknown}' not found${didYouMean(unknown, known)}; run 'flotilla status' to list the members`,
    );
}
