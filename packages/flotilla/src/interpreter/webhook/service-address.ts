/** Resolves the address of a Service of the hub with Karmada's rules: its cluster IP, or its external name. */
import type { Service } from "@flotilla/kubernetes";
import { InterpretError } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";

/** Undefined when there is no Service. Throws for a Service without a usable address. */
export function serviceAddress(
  service: DeepReadonly<Service> | undefined,
  port: number,
): { host: string; port: number } | undefined {
  if (!service) return undefined;
  const { type = "ClusterIP", clusterIP, externalName, ports = [] } = service.spec ?? {};
  if (type === "ExternalName") {
    if (!externalName) throw new InterpretError("it has type ExternalName but no externalName");
    return { host: externalName, port };
  }
  if (!clusterIP || clusterIP === "None") throw new InterpretError("it has no cluster IP");
  if (!ports.some((offered) => offered.port === port)) throw new InterpretError(`it has no port ${port}`);
  return { host: clusterIP, port };
}
