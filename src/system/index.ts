export type { SystemDependencies } from "./dependencies.ts";
export { CLUSTER_INFO_PATH, publishClusterInfo } from "./bootstrap/cluster-info.ts";
export { bootstrapAccess } from "./bootstrap/hub-access.ts";
export { rootCertificateConfigMap } from "./root-certificates/config-map.ts";
export { defaultServiceAccount } from "./service-accounts/default-account.ts";
export { tokenTrackingConfigMap } from "./tokens/tracking.ts";
export { createSystemControllers } from "./create-system-controllers.ts";
