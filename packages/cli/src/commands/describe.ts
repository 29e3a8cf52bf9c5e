/** `flotilla describe`: shows one object on the hub and on all members. */
import type { Json } from "@flotilla/base";
import { defineCommand } from "../command.ts";
import { requestTimeoutFlag } from "../members/flags.ts";
import { chosenNamespace, namespaceFlag } from "../members/namespace-flag.ts";
import { clusterFlags, readNames } from "../members/members-places.ts";
import { readOne } from "../members/targets.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const USAGE = "'flotilla describe deployment/web' or 'flotilla describe deployment web'";
const FAILED = 1;

export const describeCommand = defineCommand({
  name: "describe",
  summary: "show one object across the fleet: hub, binding, members' copies, events",
  details:
    "With --clusters, only those members are described, even if the hub does not have the object. Events " +
    "of all clusters are listed together, newest last. 'flotilla why' explains why the object is where it " +
    "is.",
  example: [
    { says: "A Deployment on the hub and on every member.", run: "flotilla describe deployment/web -n shop" },
    { says: "A pod, on the member that runs it.", run: "flotilla describe pod web-7d4b9c-x2x1p" },
    {
      says: "What one member has, as JSON.",
      run: "flotilla describe node/member1-node-1 --clusters member1 -o json",
    },
  ],
  args: [
    {
      name: "TYPE/NAME",
      description: "the object as in kubectl, or its TYPE",
      required: true,
      completes: "resource",
    },
    { name: "NAME", description: "its name, if the first argument is only a TYPE", required: false, completes: "name" },
  ],
  flags: { ...namespaceFlag, ...clusterFlags, ...requestTimeoutFlag, ...hubFlags },
  async run({ args, flags, output, signal, clock, connect, environment }) {
    const { word, name } = readOne(args, USAGE);
    // Loaded lazily, so that the help does not load it.
    const [{ readDescription }, { renderDescription }, { readCauses }] = await Promise.all([
      import("../members/read-description.ts"),
      import("../members/render-description.ts"),
      import("../health/described-causes.ts"),
    ]);
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      const asking = { client: hub.client, clock, responseTimeoutMs: flags["request-timeout"] * 1000, signal };
      output.progress("reading the fleet");
      const read = await readDescription(asking, hub.client, {
        word,
        name,
        namespace: chosenNamespace(flags, hub),
        clusters: readNames(flags.clusters),
      });
      const causes = await readCauses(read, { client: hub.client, clock, signal, places: undefined });
      const description = {
        ...read,
        problems: causes.problems,
        notChecked: [...new Set([...read.notChecked, ...causes.unseen])].toSorted(),
      };
      output.progress("");
      output.result(description as unknown as Json, () =>
        renderDescription(description, { nowMs: clock.now(), width: output.width }),
      );
      return description.failures.length > 0 ? FAILED : 0;
    } finally {
      await hub.close();
    }
  },
});
