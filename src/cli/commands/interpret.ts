/**
 * `flotilla interpret`: check, run and test interpreter rules without a server, as `karmadactl interpret` does and a
 * little more.
 */
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";

export const interpretCommand = defineCommand({
  name: "interpret",
  summary: "check, run and test the rules that tell what a kind means, without a server",
  details:
    "With --check, looks at customizations as the hub would; with --operation, runs one rule as karmadactl interpret does; with --test, runs fixtures for CI; with --show-doc, prints what rules are given and must return.",
  example: [
    { says: "Look at rules as the hub would.", run: "flotilla interpret -f customization.yaml --check" },
    {
      says: "Ask a rule how many replicas an object has.",
      run: "flotilla interpret -f customization.yaml --operation InterpretReplica --desired-file cloneset.yaml",
    },
    {
      says: "See what a rule keeps of what a member has.",
      run: "flotilla interpret -f customization.yaml --operation Retain --desired-file desired.yaml --observed-file observed.yaml",
    },
    {
      says: "Sum up what members report.",
      run: "flotilla interpret -f customization.yaml --operation AggregateStatus --desired-file cloneset.yaml --status-file items.yaml",
    },
    {
      says: "Ask Flotilla's own rule whether an object is healthy.",
      run: "kubectl get cloneset web -o yaml | flotilla interpret --operation InterpretHealth --observed-file -",
    },
    {
      says: "See how a workload is divided among members.",
      run: "flotilla interpret --operation Divide --desired-file cloneset.yaml --share member1=6 --share member2=4",
    },
    { says: "Run fixtures, for CI.", run: "flotilla interpret -f rules/ --recursive --test tests/*.yaml" },
    {
      says: "Read what a rule is given and must return.",
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
        "customizations: a file, folder, pattern, address, or - for standard input; may be repeated (default: Flotilla's own rules)",
    },
    recursive: { type: "boolean", short: "R", description: "also look in the folders of a folder" },
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
        "the rule to run: Retain, InterpretReplica, InterpretComponent, ReviseReplica, InterpretStatus, AggregateStatus, InterpretHealth, InterpretDependency or Divide",
    },
    "desired-file": { type: "string", value: "FILE", description: "the object as it is wanted" },
    "observed-file": { type: "string", value: "FILE", description: "the object as a member has it" },
    "status-file": {
      type: "string",
      value: "FILE",
      description: "what members report, one item (clusterName, status, …) per document",
    },
    "desired-replica": {
      type: "integer",
      minimum: -(2 ** 31),
      maximum: 2 ** 31 - 1,
      default: 0,
      description: "the number of replicas for ReviseReplica",
    },
    share: {
      type: "string",
      value: "MEMBER=N",
      repeated: true,
      description: "for Divide: a member and how many replicas it runs; may be repeated",
    },
    check: { type: "boolean", description: "look at the customizations without running them" },
    test: {
      type: "string",
      value: "FILE",
      repeated: true,
      description: "run the fixtures in a file or folder; may be repeated",
    },
    "show-doc": { type: "boolean", description: "print what each rule is given and must return" },
    edit: { type: "boolean", description: "not offered: use your editor and --check, or kubectl edit on a hub" },
  },
  async run({ args, flags, output, clock, signal, readInput }) {
    if (flags.edit)
      throw new UsageError(
        "--edit is not offered: change the file with your editor and look at it with 'flotilla interpret -f FILE --check', or use 'kubectl edit resourceinterpretercustomization NAME' on a hub",
      );
    if (flags.check && (flags.operation !== undefined || flags.test.length > 0))
      throw new UsageError("--check only looks at customizations; leave out --operation and --test");
    if (flags.operation !== undefined && flags.test.length > 0)
      throw new UsageError("--test takes the operations from its fixtures; leave out --operation");
    if (args.length > 0 && flags.test.length === 0)
      throw new UsageError(
        `'flotilla interpret' does not know what to do with '${args[0]}'; files are given with -f or --test`,
      );
    // Loaded here, so that neither another command nor the help pays for the interpreter.
    const [{ interpret }, { download }] = await Promise.all([
      import("../interpret/run.ts"),
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
        showDocumentation: flags["show-doc"],
        tests: [...flags.test, ...args],
      },
      { output, clock, reach: { readInput, download: (url) => download(url, signal) } },
    );
  },
});
