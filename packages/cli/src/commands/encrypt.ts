/** `flotilla encrypt`: writes objects unchanged, so that the server stores them with its current key. */
import { HUB, isConflict, isNotFound } from "@flotilla/apimachinery";
import type { Kind } from "@flotilla/apimachinery";
import { UsageError } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { eachObject } from "@flotilla/client";
import { kindsOfType } from "../audit/type-names.ts";
import { defineCommand } from "../command.ts";
import { hubFlags, hubKubeconfig } from "../membership/hub-kubeconfig.ts";

const DEFAULT_TYPES = ["secrets"];

export const encryptCommand = defineCommand({
  name: "encrypt",
  summary: "store objects again with the current key of the encryption configuration",
  details:
    "After a change of --encryption-provider-config of 'flotilla up' or 'flotilla apiserver', objects that " +
    "are already stored keep their old key until they are written. This command writes them unchanged; the " +
    "server stores only those whose key is old. 'kubectl get secrets -A -o json | kubectl replace -f -' " +
    "does the same.",
  example: [
    { says: "Store all Secrets of the hub with the current key.", run: "flotilla encrypt" },
    {
      says: "Also store what contains propagated Secrets, on the hub and in a logical cluster.",
      run: "flotilla encrypt secrets works manifestworks --cluster hub --cluster member1",
    },
  ],
  args: [
    {
      name: "TYPE",
      description: "types of objects (default secrets)",
      required: false,
      repeated: true,
      completes: "type",
    },
  ],
  flags: {
    cluster: {
      type: "string",
      value: "NAME",
      repeated: true,
      completes: "cluster",
      description: "logical clusters of the server; may be repeated (default: the hub)",
    },
    ...hubFlags,
  },
  async run({ args, flags, output, signal, connect, environment }) {
    const kinds = (args.length > 0 ? args : DEFAULT_TYPES).map(kindOf);
    const clusters = flags.cluster.length > 0 ? flags.cluster : [HUB];
    const hub = await connect(hubKubeconfig(flags, environment));
    try {
      let written = 0;
      let unchanged = 0;
      for (const cluster of clusters)
        for (const kind of kinds) {
          output.progress(`writing ${kind.plural} of ${cluster}`);
          for await (const object of eachObject(hub.client, kind, { cluster, signal }))
            if (await rewrite(hub.client, kind, cluster, object, signal)) written++;
            else unchanged++;
        }
      output.result(
        { written, unchanged },
        () => `${written} objects were stored again, ${unchanged} already had the current key`,
      );
    } finally {
      await hub.close();
    }
  },
});

function kindOf(type: string): Kind {
  const [kind] = kindsOfType(type);
  if (!kind)
    throw new UsageError(`'${type}' is not a type that this command knows; name it as kubectl does, such as secrets`);
  return kind;
}

/** Whether the server wrote it. An object that changes or is deleted meanwhile is written by that, or needs nothing. */
async function rewrite(
  client: Client,
  kind: Kind,
  cluster: string,
  object: Parameters<Client["update"]>[2],
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const after = await client.update(kind, cluster, object, { signal });
    return after.metadata.resourceVersion !== object.metadata.resourceVersion;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
}
