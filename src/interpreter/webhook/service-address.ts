/** Where a Service of the hub listens, by the rules of Karmada: its cluster address, or the name that it stands for. */
import type { Service } from "../../api/index.ts";
import { InterpretError } from "../interpret-error.ts";
import type { DeepReadonly } from "../../base/index.ts";

/** Undefined when there is no Service. Throws for one that nobody can connect to. */
export function serviceAddress(
  service: DeepReadonly<Service> | undefined,
  port: number,
): { host: string; port: number } | undefined {
  if (!service) return undefined;
  const { type = "ClusterIP", clusterIP, externalName, ports = [] } = service.spec ?? {};
  if (type === "ExternalName") {
    if (!externalName) throw new InterpretError("it is of type ExternalName and has no externalName");
    return { host: externalName, port };
  }
  if (!clusterIP || clusterIP === "None") throw new InterpretError("it has no cluster address");
  if (!ports.some((offered) => offered.port === port)) throw new InterpretError(`it has no port ${port}`);
  return { host: clusterIP, port };
}
