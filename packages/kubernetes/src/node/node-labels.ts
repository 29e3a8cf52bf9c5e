/** Deprecated node labels, and the warnings for clients that still use them. */
import {
  ARCH_LABEL,
  INSTANCE_TYPE_LABEL,
  OS_LABEL,
  REGION_LABEL,
  ZONE_LABEL,
  BETA_ARCH_LABEL,
  BETA_INSTANCE_TYPE_LABEL,
  BETA_OS_LABEL,
  BETA_REGION_LABEL,
  BETA_ZONE_LABEL,
} from "../well-known-names.ts";

const DEPRECATED: ReadonlyMap<string, string> = new Map([
  [BETA_ARCH_LABEL, `deprecated since v1.14; use "${ARCH_LABEL}" instead`],
  [BETA_OS_LABEL, `deprecated since v1.14; use "${OS_LABEL}" instead`],
  [BETA_REGION_LABEL, `deprecated since v1.17; use "${REGION_LABEL}" instead`],
  [BETA_ZONE_LABEL, `deprecated since v1.17; use "${ZONE_LABEL}" instead`],
  [BETA_INSTANCE_TYPE_LABEL, `deprecated since v1.17; use "${INSTANCE_TYPE_LABEL}" instead`],
  ["app.kubernetes.io/created-by", "deprecated since v1.9"],
  ["scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"],
  ["node-role.kubernetes.io/master", 'use "node-role.kubernetes.io/control-plane" instead'],
]);

export const deprecatedNodeLabel = (key: string): string | undefined => DEPRECATED.get(key);
