/** Validates a Service, in the order in which Kubernetes reports errors. */
import type { DeepReadonly } from "@flotilla/base";
import {
  checkLabels,
  checkText,
  dnsLabelProblems,
  dnsSubdomainProblems,
  field,
  labelKeyProblems,
} from "@flotilla/apimachinery";
import type { FieldError, Sent } from "@flotilla/apimachinery";
import type { Service, ServicePort } from "@flotilla/apimachinery/facts/core-v1.ts";
import {
  addressWarnings,
  checkAddress,
  checkEndpointAddress,
  checkNetwork,
  networkWarnings,
  parseAddress,
} from "../networking/addresses.ts";
import { checkPortNumber, checkPortNumberOrName, checkProtocol } from "../networking/ports.ts";
import { checkAddressesKept, checkFamilies, checkFamiliesKept } from "./service-families.ts";
import { NO_ADDRESS, isExternallyAccessible, isHeadless, needsHealthPort, type Spec } from "./service-fields.ts";

type Read<T> = DeepReadonly<T>;

const AFFINITIES = ["ClientIP", "None"];
const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const TRAFFIC_POLICIES = ["Cluster", "Local"];
const DISTRIBUTIONS = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const IP_MODES = ["Proxy", "VIP"];
/** A day. */
const MAX_AFFINITY_SECONDS = 86400;

const TOPOLOGY_MODE = "service.kubernetes.io/topology-mode";
const TOPOLOGY_HINTS = "service.kubernetes.io/topology-aware-hints";
const SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges";
const ONLY_BALANCERS = "may only be used when `type` is 'LoadBalancer'";

export function checkService(service: Read<Service>, old: Read<Service> | undefined): FieldError[] {
  const { metadata, spec = {} } = service;
  const errors = old ? checkServiceUpdate(spec, old.spec ?? {}) : [];
  const { [TOPOLOGY_MODE]: mode, [TOPOLOGY_HINTS]: hints } = metadata.annotations ?? {};
  if (mode !== undefined && hints !== undefined && mode !== hints)
    errors.push(
      field.invalid(
        `metadata.annotations[${TOPOLOGY_MODE}]`,
        mode,
        `must match annotations[${TOPOLOGY_HINTS}] when both are specified`,
      ),
    );
  if (!spec.ports?.length && !isHeadless(spec) && spec.type !== "ExternalName")
    errors.push(field.required("spec.ports"));
  errors.push(
    ...checkTypedAddresses(spec),
    ...checkPorts(spec),
    ...checkLabels("spec.selector", spec.selector),
    ...checkAffinity(spec),
    ...checkFamilies(spec, old?.spec),
  );
  for (const [index, address] of (spec.externalIPs ?? []).entries()) {
    const at = `spec.externalIPs[${index}]`;
    const problems = checkAddress(at, address, old?.spec?.externalIPs);
    errors.push(...(problems.length > 0 ? problems : checkEndpointAddress(at, address)));
  }
  if (!spec.type) errors.push(field.required("spec.type"));
  else if (!TYPES.includes(spec.type)) errors.push(field.notSupported("spec.type", spec.type, TYPES));
  errors.push(...checkNodePorts(spec), ...checkDuplicatePorts(spec.ports ?? []), ...checkSourceRanges(service, old));
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== "LoadBalancer")
    errors.push(field.forbidden("spec.allocateLoadBalancerNodePorts", ONLY_BALANCERS));
  errors.push(...checkBalancerClass(spec), ...checkTraffic(spec));
  return errors;
}

function checkServiceUpdate(spec: Spec, old: Spec): FieldError[] {
  const errors = [...checkAddressesKept(spec, old), ...checkFamiliesKept(spec, old)];
  if (old.type === "LoadBalancer" && spec.type === "LoadBalancer" && old.loadBalancerClass !== spec.loadBalancerClass)
    errors.push(field.invalid("spec.loadBalancerClass", spec.loadBalancerClass, "may not change once set"));
  errors.push(...checkBalancerClass(spec));
  if (needsHealthPort(old) && needsHealthPort(spec) && old.healthCheckNodePort !== spec.healthCheckNodePort)
    errors.push(field.forbidden("spec.healthCheckNodePort", "field is immutable"));
  return errors;
}

/** Rules of each type for addresses and names. */
function checkTypedAddresses(spec: Spec): FieldError[] {
  const { type, clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = "" } = spec;
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(spec))
    return [field.invalid("spec.clusterIPs[0]", NO_ADDRESS, `may not be set to 'None' for ${type} services`)];
  if (type !== "ExternalName") return [];
  const errors: FieldError[] = [];
  const set = {
    clusterIPs: clusterIPs.length > 0,
    ipFamilies: ipFamilies.length > 0,
    ipFamilyPolicy: ipFamilyPolicy !== undefined,
  };
  for (const [path, isSet] of Object.entries(set))
    if (isSet) errors.push(field.forbidden(`spec.${path}`, "may not be set for ExternalName services"));
  // A trailing dot marks a fully qualified name.
  const name = externalName.replace(/\.$/, "");
  return [
    ...errors,
    ...(name === ""
      ? [field.required("spec.externalName")]
      : checkText("spec.externalName", name, dnsSubdomainProblems)),
  ];
}

function checkPorts({ ports = [] }: Spec): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap(({ name = "", port, protocol, targetPort, appProtocol }, index) => {
    const at = `spec.ports[${index}]`;
    const errors: FieldError[] = [];
    if (name !== "") {
      errors.push(...checkText(`${at}.name`, name, dnsLabelProblems));
      if (names.has(name)) errors.push(field.duplicate(`${at}.name`, name));
      names.add(name);
    } else if (ports.length > 1) errors.push(field.required(`${at}.name`));
    errors.push(
      ...checkPortNumber(`${at}.port`, port),
      ...checkProtocol(`${at}.protocol`, protocol),
      ...checkPortNumberOrName(`${at}.targetPort`, targetPort),
    );
    if (appProtocol !== undefined) errors.push(...checkText(`${at}.appProtocol`, appProtocol, labelKeyProblems));
    return errors;
  });
}

function checkAffinity({ sessionAffinity, sessionAffinityConfig }: Spec): FieldError[] {
  const at = "spec.sessionAffinity";
  if (!sessionAffinity) return [field.required(at)];
  if (!AFFINITIES.includes(sessionAffinity)) return [field.notSupported(at, sessionAffinity, AFFINITIES)];
  if (sessionAffinity === "None")
    return sessionAffinityConfig
      ? [field.forbidden(`${at}Config`, "must not be set when session affinity is None")]
      : [];
  const why = "when session affinity type is ClientIP";
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (seconds === undefined)
    return [
      field.required(
        `${at}Config${sessionAffinityConfig ? `.clientIP${sessionAffinityConfig.clientIP ? ".timeoutSeconds" : ""}` : ""}`,
        why,
      ),
    ];
  return seconds > 0 && seconds <= MAX_AFFINITY_SECONDS
    ? []
    : [
        field.invalid(
          `${at}Config.clientIP.timeoutSeconds`,
          seconds,
          `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`,
        ),
      ];
}

function checkNodePorts({ type, ports = [] }: Spec): FieldError[] {
  const errors: FieldError[] = [];
  if (type === "ClusterIP")
    for (const [index, { nodePort }] of ports.entries())
      if (nodePort)
        errors.push(field.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
  const seen = new Set<string>();
  for (const [index, { nodePort, protocol = "" }] of ports.entries()) {
    if (!nodePort) continue;
    const key = `${protocol} ${nodePort}`;
    if (seen.has(key)) errors.push(field.duplicate(`spec.ports[${index}].nodePort`, nodePort));
    seen.add(key);
  }
  return errors;
}

function checkDuplicatePorts(ports: readonly Sent<ServicePort>[]): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ port = 0, protocol = "" }, index) => {
    const key = `${protocol} ${port}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    return [
      field.duplicate(`spec.ports[${index}]`, {
        Name: "",
        Protocol: protocol,
        AppProtocol: null,
        Port: port,
        TargetPort: 0,
        NodePort: 0,
      }),
    ];
  });
}

/** The ranges may be in an annotation, which predates the field. */
function checkSourceRanges({ metadata, spec = {} }: Read<Service>, old: Read<Service> | undefined): FieldError[] {
  const { loadBalancerSourceRanges: ranges = [], type } = spec;
  if (ranges.length > 0) {
    const at = "spec.LoadBalancerSourceRanges";
    const known = (old?.spec?.loadBalancerSourceRanges ?? []).map((text) => text.trim());
    return [
      ...(type === "LoadBalancer" ? [] : [field.forbidden(at, ONLY_BALANCERS)]),
      ...ranges.flatMap((text, index) => checkNetwork(`${at}[${index}]`, text.trim(), known)),
    ];
  }
  const text = metadata.annotations?.[SOURCE_RANGES];
  if (text === undefined) return [];
  const at = `metadata.annotations[${SOURCE_RANGES}]`;
  const errors = type === "LoadBalancer" ? [] : [field.forbidden(at, ONLY_BALANCERS)];
  if (text.trim() === "" || old?.metadata.annotations?.[SOURCE_RANGES] === text) return errors;
  return [
    ...errors,
    ...text
      .trim()
      .split(",")
      .flatMap((range) => checkNetwork(at, range.trim())),
  ];
}

function checkBalancerClass({ type, loadBalancerClass }: Spec): FieldError[] {
  if (loadBalancerClass === undefined) return [];
  return type === "LoadBalancer"
    ? checkText("spec.loadBalancerClass", loadBalancerClass, labelKeyProblems)
    : [field.forbidden("spec.loadBalancerClass", ONLY_BALANCERS)];
}

function checkTraffic(spec: Spec): FieldError[] {
  const {
    type,
    externalTrafficPolicy: external,
    internalTrafficPolicy: internal,
    healthCheckNodePort: port,
    trafficDistribution: distribution,
  } = spec;
  const errors: FieldError[] = [];
  const externalAt = "spec.externalTrafficPolicy";
  if (!isExternallyAccessible(spec)) {
    if (external)
      errors.push(field.invalid(externalAt, external, "may only be set for externally-accessible services"));
  } else if (!external) errors.push(field.required(externalAt));
  else if (!TRAFFIC_POLICIES.includes(external))
    errors.push(field.notSupported(externalAt, external, TRAFFIC_POLICIES));
  const portAt = "spec.healthCheckNodePort";
  if (!needsHealthPort(spec)) {
    if (port)
      errors.push(
        field.invalid(
          portAt,
          port,
          "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        ),
      );
  } else errors.push(...(port ? checkPortNumber(portAt, port) : [field.required(portAt)]));
  if (internal !== undefined && !TRAFFIC_POLICIES.includes(internal))
    errors.push(field.notSupported("spec.internalTrafficPolicy", internal, TRAFFIC_POLICIES));
  if (internal === undefined && (type === "ClusterIP" || type === "NodePort" || type === "LoadBalancer"))
    errors.push(field.required("spec.internalTrafficPolicy"));
  if (distribution !== undefined && !DISTRIBUTIONS.includes(distribution))
    errors.push(field.notSupported("spec.trafficDistribution", distribution, DISTRIBUTIONS));
  return errors;
}

export function checkServiceStatus({ spec = {}, status }: Read<Service>, old: Read<Service> | undefined): FieldError[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const at = "status.loadBalancer.ingress";
  if (spec.type !== "LoadBalancer")
    return ingress.length > 0 ? [field.forbidden(at, "may only be used when `spec.type` is 'LoadBalancer'")] : [];
  const known = (old?.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  return ingress.flatMap(({ ip = "", ipMode, hostname = "" }, index) => {
    const here = `${at}[${index}]`;
    const errors = ip === "" ? [] : checkAddress(`${here}.ip`, ip, known);
    if (ipMode === undefined) {
      if (ip !== "") errors.push(field.required(`${here}.ipMode`, "must be specified when `ip` is set"));
    } else if (ip === "") errors.push(field.forbidden(`${here}.ipMode`, "may not be specified when `ip` is not set"));
    else if (!IP_MODES.includes(ipMode)) errors.push(field.notSupported(`${here}.ipMode`, ipMode, IP_MODES));
    return [...errors, ...checkBalancerName(`${here}.hostname`, hostname)];
  });
}

/** The host name of a load balancer; also used for Ingresses. */
export function checkBalancerName(path: string, name: string): FieldError[] {
  if (name === "") return [];
  return [
    ...checkText(path, name, dnsSubdomainProblems),
    ...(parseAddress(name) ? [field.invalid(path, name, "must be a DNS name, not an IP address")] : []),
  ];
}

export function serviceWarnings({ metadata, spec = {} }: Read<Service>): string[] {
  const { type, clusterIP, clusterIPs = [], externalIPs = [], loadBalancerIP, loadBalancerSourceRanges = [] } = spec;
  const warnings: string[] = [];
  const hasNoAddress = type === "ClusterIP" && clusterIP === NO_ADDRESS;
  if (metadata.annotations?.[TOPOLOGY_HINTS] !== undefined)
    warnings.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`);
  for (const [index, address] of clusterIPs.entries())
    if (address !== NO_ADDRESS) warnings.push(...addressWarnings(`spec.clusterIPs[${index}]`, address));
  if (hasNoAddress) {
    if (loadBalancerIP) warnings.push("spec.loadBalancerIP is ignored for headless services");
    if (externalIPs.length > 0) warnings.push("spec.externalIPs is ignored for headless services");
    if (spec.sessionAffinity !== "None") warnings.push("spec.SessionAffinity is ignored for headless services");
  }
  for (const [index, address] of externalIPs.entries())
    warnings.push(...addressWarnings(`spec.externalIPs[${index}]`, address));
  if (externalIPs.length > 0 && !hasNoAddress && type !== "ExternalName")
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  if (loadBalancerIP) warnings.push(...addressWarnings("spec.loadBalancerIP", loadBalancerIP));
  for (const [index, range] of loadBalancerSourceRanges.entries())
    warnings.push(...networkWarnings(`spec.loadBalancerSourceRanges[${index}]`, range));
  if (type === "ExternalName" && externalIPs.length > 0)
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (type !== "ExternalName" && spec.externalName)
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === "PreferClose")
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}

export function serviceStatusWarnings({ status }: Read<Service>): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }, index) =>
    ip ? addressWarnings(`status.loadBalancer.ingress[${index}]`, ip) : [],
  );
}
