/** Rules that a Service's schema cannot state. */
import type { DeepReadonly } from "../../base/index.ts";
import { dnsLabelProblem, type FieldError } from "../../machinery/index.ts";
import { checkLabels, forbiddenField, missing, twice, wrong } from "../field-errors.ts";
import type { Service } from "../facts/core-v1.ts";

const isPort = (port: number): boolean => port >= 1 && port <= 65535;
const PORT_RANGE = "must be between 1 and 65535, inclusive";

export function checkService({ spec = {} }: DeepReadonly<Service>): FieldError[] {
  const { ports = [], type, clusterIP } = spec;
  const errors = checkLabels("spec.selector", spec.selector);
  if (ports.length === 0 && type !== "ExternalName" && clusterIP !== "None") errors.push(missing("spec.ports"));
  const names = new Set<string>();
  for (const [index, { name, port, targetPort, nodePort }] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    if (name === undefined) {
      if (ports.length > 1) errors.push(missing(`${at}.name`));
    } else {
      const problem = dnsLabelProblem(name);
      if (problem) errors.push(wrong(`${at}.name`, name, problem));
      if (names.has(name)) errors.push(twice(`${at}.name`, name));
      names.add(name);
    }
    if (!isPort(port)) errors.push(wrong(`${at}.port`, port, PORT_RANGE));
    if (typeof targetPort === "number" && !isPort(targetPort)) errors.push(wrong(`${at}.targetPort`, targetPort, PORT_RANGE));
    if (nodePort !== undefined && (type === "ClusterIP" || type === "ExternalName")) errors.push(forbiddenField(`${at}.nodePort`, `may not be used when \`type\` is '${type}'`));
  }
  if (type === "ExternalName" && !spec.externalName) errors.push(missing("spec.externalName"));
  if (type !== "LoadBalancer") {
    for (const field of ["allocateLoadBalancerNodePorts", "loadBalancerClass"] as const) {
      if (spec[field] !== undefined) errors.push(forbiddenField(`spec.${field}`, "may only be used when `type` is 'LoadBalancer'"));
    }
  }
  return errors;
}
