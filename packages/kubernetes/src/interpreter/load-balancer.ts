/** Merges load balancer addresses of several members into one list, deduplicated and sorted. */
import { isObject, type Json, type JsonObject, textOf } from "@flotilla/base";

/** `status.loadBalancer` of a Service or an Ingress over all members. */
export function mergeLoadBalancers(statuses: readonly JsonObject[]): JsonObject {
  const merged = new Map<string, JsonObject>();
  const ports = new Map<string, Map<string, JsonObject>>();
  for (const entry of statuses.flatMap(ingressOf)) {
    const { ports: own, ...address } = entry;
    const key = JSON.stringify([textOf(address["hostname"]), textOf(address["ip"]), textOf(address["ipMode"])]);
    merged.set(key, address);
    const known = ports.get(key) ?? new Map<string, JsonObject>();
    ports.set(key, known);
    for (const port of Array.isArray(own) ? own.filter(isObject) : [])
      known.set(JSON.stringify([port["port"], port["protocol"], port["error"]]), port);
  }
  const ingress = [...merged].map(([key, address]) => {
    const own = [...(ports.get(key)?.values() ?? [])].sort(byPort);
    return own.length > 0 ? { ...address, ports: own } : address;
  });
  return ingress.length > 0 ? { ingress: ingress.sort(byAddress) } : {};
}

/** Whether a load balancer has assigned an address. */
export function hasAddress({ status }: { readonly status?: unknown }): boolean {
  return ingressOf(isObject(status) ? status : {}).some(
    ({ hostname, ip }) => textOf(hostname) !== "" || textOf(ip) !== "",
  );
}

function ingressOf(status: JsonObject): JsonObject[] {
  const balancer: Json | undefined = status["loadBalancer"];
  const ingress = isObject(balancer) ? balancer["ingress"] : undefined;
  return Array.isArray(ingress) ? ingress.filter(isObject) : [];
}

const byAddress = (a: JsonObject, b: JsonObject): number =>
  emptyLast(a, b, "hostname") || compareTexts(a, b, "ip") || emptyLast(a, b, "ipMode");
const byPort = (a: JsonObject, b: JsonObject): number =>
  Number(a["port"] ?? 0) - Number(b["port"] ?? 0) || compareTexts(a, b, "protocol") || compareTexts(a, b, "error");

/** Addresses with a name are sorted first. */
function emptyLast(a: JsonObject, b: JsonObject, field: string): number {
  const [left, right] = [textOf(a[field]), textOf(b[field])];
  return left === "" || right === "" ? -compareTexts(a, b, field) : compareTexts(a, b, field);
}

function compareTexts(a: JsonObject, b: JsonObject, field: string): number {
  const [left, right] = [textOf(a[field]), textOf(b[field])];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
