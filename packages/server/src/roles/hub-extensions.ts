/** What the roles of a process add to the API of its hub. The API server and the roles know only this. */
import type { ConnectHandler } from "@flotilla/apimachinery";
import type { ApiServerOptions } from "@flotilla/apiserver";
import type { ProfileOptions } from "./profiles.ts";

export interface HubExtensions {
  /** The subresource `proxy` of a Cluster. */
  clusterProxy?: ConnectHandler;
  /** Explanations by the name of the binding. */
  explanation?: NonNullable<ProfileOptions["explanation"]>;
  /** Usage of the pods and nodes of all members, on the hub. */
  fleetMetrics?: ReturnType<NonNullable<ProfileOptions["fleetMetrics"]>>;
  /** Usage of pods and nodes, on simulated members. */
  podMetrics?: ReturnType<NonNullable<ProfileOptions["metrics"]>>;
  /** What runs the containers of a cluster, for logs and exec. */
  runtimeOf?: NonNullable<ApiServerOptions["connect"]>["runtimeOf"];
  /** Figures and problems of the controllers in this process. */
  controllers?: NonNullable<ApiServerOptions["controllers"]>;
  /** Figures of what runs on the members. */
  workloads?: NonNullable<ApiServerOptions["workloads"]>;
}
