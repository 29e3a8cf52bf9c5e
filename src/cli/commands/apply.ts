/** `flotilla apply`: shows what would change on each member, asks, and applies it to the hub. */
import { UsageError } from "../../base/index.ts";
import { defineCommand } from "../command.ts";
import { namespaceFlag, readSeconds } from "../members/flags.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

export const applyCommand = defineCommand({
  name: "apply",
  summary: "show what would change on each member, ask, and apply it",
  details:
    "The plan is that of 'flotilla plan'. When it cannot be made, nothing is applied. Objects are applied as 'kubectl apply' does it, so both can be used on one object. Namespaces and definitions that the others need, and that are not there yet, are planned and applied first.",
  example: [
    { says: "Look at the plan, answer the question.", run: "flotilla apply -f web.yaml" },
    {
      says: "In a script: no question, and on only when all members are well.",
      run: "flotilla apply -f shop/ --yes --wait",
    },
    { says: "From standard input, into a namespace.", run: "cat web.yaml | flotilla apply -f - -n shop --yes" },
  ],
  args: [],
  flags: {
    filename: {
      type: "string",
      short: "f",
      value: "FILE",
      repeated: true,
      description: "manifests: a file, folder, pattern, address, or - for standard input; may be repeated",
    },
    recursive: { type: "boolean", short: "R", description: "also look in the folders of a folder" },
    ...namespaceFlag,
    yes: { type: "boolean", short: "y", description: "apply without a question" },
    wait: { type: "boolean", description: "wait until the members have it and are healthy" },
    timeout: { type: "string", value: "DURATION", default: "2m", description: "how long to wait, as 90s or 5m" },
    ...hubFlags,
  },
  async run({ flags, output, signal, clock, connect, environment, readInput, terminal }) {
    if (flags.filename.length === 0) throw new UsageError("say what to apply: -f FILE");
    if (flags.filename.includes("-") && !flags.yes)
      throw new UsageError("standard input is taken by -f -, so nobody can be asked: give --yes");
    const waitSeconds = readSeconds("--timeout", flags.timeout);
    // Loaded here, so that neither another command nor the help pays for the planners.
    const [{ runApply }, { download, Sources }, { readDocuments }, { manifestsOf }] = await Promise.all([
      import("../members/run-apply.ts"),
      import("../interpret/sources.ts"),
      import("../interpret/documents.ts"),
      import("../interpret/customizations.ts"),
    ]);
    const sources = await new Sources({ readInput, download: (url) => download(url, signal) }).read(flags.filename, {
      recursive: flags.recursive,
    });
    const manifests = manifestsOf(sources.flatMap(readDocuments)).map(({ object }) => object);
    if (manifests.length === 0) throw new UsageError(`${flags.filename.join(", ")} holds no objects`);
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const asking = { client: hub.client, clock, patienceMs: 10_000, signal };
      return await runApply(
        {
          manifests,
          namespace: flags.namespace ?? hub.namespace ?? "default",
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
