/**
 * Karmada grants its agents update on Works, not patch, and a hub that grants more would be incompatible with Karmada's
 * tools. Finalizers are removed by a patch everywhere else; for Works, that patch becomes an update with the
 * resourceVersion that the patch names.
 */
import { defined } from "@flotilla/base";
import { Work } from "@flotilla/karmada";
import type { DeepReadonly } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import type { Lister } from "@flotilla/controller-runtime";

export function withoutPatches(client: Client, works: Lister<Work>): Client {
  return {
    ...client,
    async patch(kind, key, patch, options) {
      if (
        kind.group !== Work.group ||
        kind.kind !== Work.kind ||
        options.type !== "merge" ||
        options.subresource !== undefined
      )
        return client.patch(kind, key, patch, options);
      const { metadata } = patch as { metadata: { resourceVersion: string | null; finalizers: string[] | null } };
      const seen = works.get(key);
      // Sending another version under this resourceVersion would overwrite the changes of other writers.
      const work: DeepReadonly<Work> =
        seen?.metadata.resourceVersion === metadata.resourceVersion
          ? seen
          : await client.get(Work, key, { signal: options.signal });
      const changed = {
        ...work,
        metadata: {
          ...work.metadata,
          ...defined({ resourceVersion: metadata.resourceVersion !== null ? metadata.resourceVersion : undefined }),
          finalizers: metadata.finalizers ?? [],
        },
      };
      // The requested kind is Work.
      return (await client.update(Work, key.cluster, changed, options)) as never;
    },
  };
}
