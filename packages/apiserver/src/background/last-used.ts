/** Records on a Secret when its token was last used, so that users and cleanup controllers find unused tokens. */
import { objectOf } from "@flotilla/base";
import type { LogicalCluster } from "../clusters/logical-cluster.ts";
import type { Housekeeping } from "./housekeeping.ts";
import { metadataOf } from "../codec/metadata.ts";
import { keyOf } from "../resources/resources.ts";

const LAST_USED = "kubernetes.io/legacy-token-last-used";

/** Runs in the background: the request that presents the token does not wait for it. */
export function markUsed(
  housekeeping: Housekeeping,
  cluster: LogicalCluster,
  namespace: string,
  secret: string,
  day: string,
): void {
  const resource = cluster.table.resource("", "secrets");
  if (!resource) return;
  const key = keyOf(resource, cluster.name, namespace, secret);
  housekeeping.enqueue(`last use of ${key}`, () =>
    housekeeping.rewrite(key, undefined, (object) => {
      const metadata = metadataOf(object);
      return {
        ...object,
        metadata: {
          ...metadata,
          labels: { ...objectOf(metadata.labels), [LAST_USED]: day },
        },
      };
    }),
  );
}
