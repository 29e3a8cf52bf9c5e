/** How one manifest of a work is applied, from its update strategy. Pure. */
import { defined } from "@flotilla/base";
import { SERVICE_ACCOUNT_TOKEN_TYPE } from "@flotilla/kubernetes";
import { WORK_AGENT_MANAGER } from "@flotilla/ocm";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { ApplyPolicy, RetainFn } from "../../delivery/delivery.ts";
import type { Ownership } from "../../delivery/ownership.ts";
import { retainIgnored } from "./ignore-fields.ts";
import type { ManifestOptions } from "./manifest-options.ts";
import type { Manifest } from "./manifests.ts";

/** Kinds of which an update changes only metadata: the rest belongs to the member's controllers. */
const METADATA_ONLY: ReadonlySet<string> = new Set(["v1 Namespace", "v1 Pod", "v1 ServiceAccount"]);
/** Kinds whose data an update replaces as a whole. */
const EXACT: ReadonlyMap<string, readonly string[]> = new Map([
  ["v1 ConfigMap", ["data", "binaryData"]],
  ["v1 Secret", ["data"]],
]);

/** Throws an `IgnoreFieldsError` for invalid ignoreFields. */
export function planApply(
  { object }: Manifest,
  options: ManifestOptions | undefined,
  ownership: Ownership,
): ApplyPolicy {
  const base = { fieldManager: WORK_AGENT_MANAGER, force: true, ownership };
  const { type = "Update", serverSideApply = {} } = options?.updateStrategy ?? {};
  switch (type) {
    case "CreateOnly":
      return { ...base, mode: "create-only" };
    case "ReadOnly":
      return { ...base, mode: "read-only" };
    case "ServerSideApply": {
      const { force = false, fieldManager = WORK_AGENT_MANAGER, ignoreFields = [] } = serverSideApply;
      return {
        ...base,
        mode: "apply",
        force,
        fieldManager: fieldManager || WORK_AGENT_MANAGER,
        retain: ignoreFields.length > 0 ? retainIgnored(ignoreFields) : undefined,
      };
    }
    default: {
      const id = `${object.apiVersion} ${object.kind}`;
      const isToken = (object as { type?: unknown }).type === SERVICE_ACCOUNT_TOKEN_TYPE;
      const exact = isToken ? undefined : EXACT.get(id);
      return {
        ...base,
        mode: "update",
        exact,
        retain: METADATA_ONLY.has(id) ? keepBody : undefined,
        ...defined({ retain: isToken ? keepToken : undefined }),
      };
    }
  }
}

const keepBody: RetainFn = ({ apiVersion, kind, metadata }, observed): DeepReadonly<KubernetesObject> => ({
  ...observed,
  apiVersion,
  kind,
  metadata,
});

const keepToken: RetainFn = (desired, observed) => ({
  ...desired,
  data: { ...(observed as { data?: object }).data, ...(desired as { data?: object }).data },
});
