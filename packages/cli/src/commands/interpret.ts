/**
 * `flotilla interpret`: checks, runs and tests interpreter rules without a server. A superset of `karmadactl
 * interpret`.
 */
import { UsageError } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const interpretCommand = defineCommand({
  name: "interpret",
  summary: "check, run and test the resource interpreter rules of a kind, without a server",
  details:
    "With --check, validates customizations as the hub would, and runs them on objects of files or of your " +
    "hub; with --operation, runs one rule as karmadactl interpret does; with --test, runs fixtures for CI; " +
    "with --show-doc, prints the arguments and results of each rule.",
  example: [
    { says: "Validate rules as the hub would.", run: "flotilla interpret -f customization.yaml --check" },
    {
      says: "Also run them on the objects of your hub and its members.",
      run: "flotilla interpret -f customization.yaml --check --against-hub",
    },
    {
      says: "Run a rule that returns the replicas of an object.",
      run: "flotilla interpret -f customization.yaml --operation InterpretReplica --desired-file cloneset.yaml",
    },
    {
      says: "Show which of a member's fields a rule retains.",
      run: "flotilla interpret -f customization.yaml --operation Retain --desired-file desired.yaml --observed-file observed.yaml",
    },
    {
      says: "Aggregate the status that members report.",
      run: "flotilla interpret -f customization.yaml --operation AggregateStatus --desired-file cloneset.yaml --status-file items.yaml",
    },
    {
      says: "Run the built-in health rule on an object.",
      run: "kubectl get cloneset web -o yaml | flotilla interpret --operation InterpretHealth --observed-file -",
    },
    {
      says: "Show how a workload is divided among members.",
      run: "flotilla interpret --operation Divide --desired-file cloneset.yaml --share member1=6 --share member2=4",
    },
    { says: "Run fixtures, for CI.", run: "flotilla interpret -f rules/ --recursive --test tests/*.yaml" },
    {
      says: "Show the arguments and result of a rule.",
      run: "flotilla interpret --show-doc --operation AggregateStatus",
    },
  ],
  args: [{ name: "FILE", description: "more files for --test", required: false, completes: "file", repeated: true }],
  flags: {
    filename: {
      type: "string",
      short: "f",
      value: "FILE",
      repeated: true,
      description:
        "customizations: a file, folder, pattern, URL, or - for standard input; may be repeated (default: the built-in rules)",
    },
    recursive: { type: "boolean", short: "R", description: "also read subfolders" },
    operation: {
      type: "string",
      value: "OP",
      offers: [
        "Retain",
        "InterpretReplica",
        "InterpretComponent",
        "ReviseReplica",
        "InterpretStatus",
        "AggregateStatus",
        "InterpretHealth",
        "InterpretDependency",
        "Divide",
      ],
      description:
        "the rule to run: Retain, InterpretReplica, InterpretComponent, ReviseReplica, InterpretStatus, " +
        "AggregateStatus, InterpretHealth, InterpretDependency or Divide",
    },
    "desired-file": { type: "string", value: "FILE", description: "the desired object" },
    "observed-file": { type: "string", value: "FILE", description: "the object observed on a member" },
    "status-file": {
      type: "string",
      value: "FILE",
      description: "the status that members report, one item (clusterName, status, …) per document",
    },
    "desired-replica": {
      type: "integer",
      minimum: -(2 ** 31),
      maximum: 2 ** 31 - 1,
      default: 0,
      description: "the replica count for ReviseReplica",
    },
    share: {
      type: "string",
      value: "MEMBER=N",
      repeated: true,
      description: "for Divide: a member and its replica count; may be repeated",
    },
    check: {
      type: "boolean",
      description: "validate the customizations, and run them on the given objects or with --against-hub",
    },
    "against-hub": {
      type: "boolean",
      description: "with --check: also run the rules on objects of the hub and their copies on members",
    },
    test: {
      type: "string",
      value: "FILE",
      repeated: true,
      description: "run the fixtures in a file or folder; may be repeated",
    },
    "show-doc": { type: "boolean", description: "print the arguments and the result of each rule" },
    edit: { type: "boolean", description: "not supported: use your editor and --check, or kubectl edit on a hub" },
    ...hubFlags,
  },
  async run({ args, flags, output, clock, signal, readInput, connect, environment }) {
    if (flags.edit)
      throw new UsageError(
        "--edit is not supported: edit the file and validate it with 'flotilla interpret -f FILE --check', or " +
          "use 'kubectl edit resourceinterpretercustomization NAME' on a hub",
      );
    if (flags.check && (flags.operation !== undefined || flags.test.length > 0))
      throw new UsageError("--check only validates customizations; remove --operation and --test");
    if (flags["against-hub"] && !flags.check) throw new UsageError("--against-hub needs --check");
    if (flags.operation !== undefined && flags.test.length > 0)
      throw new UsageError("--test takes the operations from its fixtures; remove --operation");
    if (args.length > 0 && flags.test.length === 0)
      throw new UsageError(`unexpected argument '${args[0]}'; specify files with -f or --test`);
    // Loaded lazily, so that other commands and the help do not load the interpreter.
    const [{ interpret }, { download }] = await Promise.all([
      import("../interpret/run-interpret.ts"),
      import("../interpret/sources.ts"),
    ]);
    await interpret(
      {
        files: flags.filename,
        recursive: flags.recursive,
        operation: flags.operation,
        desiredFile: flags["desired-file"],
        observedFile: flags["observed-file"],
        statusFile: flags["status-file"],
        replicas: flags["desired-replica"],
        shares: flags.share,
        check: flags.check,
        againstHub: flags["against-hub"],
        showDocumentation: flags["show-doc"],
        tests: [...flags.test, ...args],
      },
      {
        output,
        clock,
        reach: {
          readInput,
          download: (url) => download(url, signal),
          async readHubSamples(targets) {
            const [{ readHubSamples }, hub] = await Promise.all([
              import("../interpret/hub-samples.ts"),
              connect(hubKubeconfig(flags, environment)),
            ]);
            try {
              return await readHubSamples(targets, { client: hub.client, clock, signal });
            } finally {
              await hub.close();
            }
          },
        },
      },
    );
  },
});
