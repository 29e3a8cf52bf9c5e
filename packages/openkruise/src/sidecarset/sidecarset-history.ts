/**
 * Writes the history of a SidecarSet's injected content.
 *
 * Writes: ControllerRevision in OpenKruise's namespace, and this namespace if it is missing.
 */
import { CUSTOM_VERSION_LABEL } from "../api/kruise-names.ts";
import { isAlreadyExists, isNotFound } from "@flotilla/apimachinery";
import { keyOf, unlessChanged } from "@flotilla/controller-runtime";
import { ControllerRevision, createRevisionHistory, Namespace } from "@flotilla/kubernetes";
import type {
  Owner,
  ReadonlyRevision,
  RevisionHistory,
  RevisionPlan,
  WorkloadDependencies,
} from "@flotilla/kubernetes";
import { KRUISE_NAMESPACE } from "./sidecarset-names.ts";
import type { ReadonlySidecarSet } from "./sidecarset-names.ts";

export interface SidecarSetHistory extends RevisionHistory {
  /** Users can name versions, including existing ones. */
  nameVersion(set: ReadonlySidecarSet, cluster: string, revision: ReadonlyRevision, signal: AbortSignal): Promise<void>;
}

export function createSidecarSetHistory(deps: WorkloadDependencies): SidecarSetHistory {
  const { client } = deps;
  const history = createRevisionHistory(deps);

  async function ensureNamespace(cluster: string, signal: AbortSignal): Promise<void> {
    try {
      await client.create(
        Namespace,
        cluster,
        { apiVersion: "v1", kind: "Namespace", metadata: { name: KRUISE_NAMESPACE } },
        { signal },
      );
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }

  return {
    ...history,

    async write(owner: Owner, revisions: RevisionPlan, signal: AbortSignal) {
      try {
        return await history.write(owner, revisions, signal);
      } catch (error) {
        // If only OpenKruise's CRDs are installed, its namespace is missing.
        if (!isNotFound(error)) throw error;
        await ensureNamespace(owner.cluster, signal);
        return await history.write(owner, revisions, signal);
      }
    },

    async nameVersion({ spec: { customVersion } }, cluster, revision, signal) {
      if (!customVersion || revision.metadata.labels?.[CUSTOM_VERSION_LABEL] === customVersion) return;
      await unlessChanged(
        client.patch(
          ControllerRevision,
          keyOf(cluster, revision),
          { metadata: { labels: { [CUSTOM_VERSION_LABEL]: customVersion } } },
          { type: "merge", signal },
        ),
      );
    },
  };
}
