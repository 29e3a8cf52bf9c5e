/** Defaults and validation of NetworkPolicy. */
import type { DeepReadonly } from "@flotilla/base";
import { builtInAdmission, change, changeItems, checkSelector, field, fill } from "@flotilla/apimachinery";
import type { AnyAdmission, FieldError, Sent } from "@flotilla/apimachinery";
import type {
  IPBlock,
  NetworkPolicyPeer,
  NetworkPolicyPort,
  NetworkPolicySpec,
} from "@flotilla/apimachinery/facts/networking-v1.ts";
import { checkNetwork, isStrictlyWithin, networkWarnings, parseNetwork } from "../networking/addresses.ts";
import { checkPortName, checkPortNumber } from "../networking/ports.ts";
import { NetworkPolicy } from "./networkpolicy-kind.ts";

type Read<T> = DeepReadonly<T>;
type Rule = {
  readonly ports?: readonly Read<NetworkPolicyPort>[];
  readonly peers: readonly Read<NetworkPolicyPeer>[];
  readonly at: string;
};

const PROTOCOLS = ["TCP", "UDP", "SCTP"];
const TYPES = ["Ingress", "Egress"];

function completeSpec(spec: Read<NetworkPolicySpec>): Read<NetworkPolicySpec> {
  const completePorts = <T extends { readonly ports?: readonly Read<NetworkPolicyPort>[] }>(rule: T): T =>
    change(
      rule,
      "ports",
      (ports) =>
        changeItems<NetworkPolicyPort>(ports, (port) => fill(port, { protocol: "TCP" })) as NonNullable<T["ports"]>,
    );
  const typed = change(
    change(spec, "ingress", (rules) => changeItems(rules, completePorts)),
    "egress",
    (rules) => changeItems(rules, completePorts),
  );
  return fill(typed, { policyTypes: typed.egress?.length ? ["Ingress", "Egress"] : ["Ingress"] });
}

/** Rules of both directions, with a common name for their peers. */
function rulesOf({ ingress = [], egress = [] }: Read<NetworkPolicySpec>): Rule[] {
  return [
    ...ingress.map(({ ports, from = [] }, index) => ({
      ports,
      peers: from,
      at: `spec.ingress[${index}]`,
    })),
    ...egress.map(({ ports, to = [] }, index) => ({ ports, peers: to, at: `spec.egress[${index}]` })),
  ];
}

const peersField = ({ at }: Rule): string => (at.startsWith("spec.ingress") ? `${at}.from` : `${at}.to`);

function checkSpec(spec: Read<NetworkPolicySpec>, old: Read<NetworkPolicySpec> | undefined): FieldError[] {
  const { podSelector, policyTypes = [] } = spec;
  const lenient = old !== undefined && checkSelector("", old.podSelector).length > 0;
  const known = old
    ? rulesOf(old).flatMap(({ peers }) =>
        peers.flatMap(({ ipBlock }) => (ipBlock ? [ipBlock.cidr, ...(ipBlock.except ?? [])] : [])),
      )
    : [];
  const errors = checkSelector("spec.podSelector", podSelector, lenient);
  for (const rule of rulesOf(spec)) {
    for (const [index, port] of (rule.ports ?? []).entries())
      errors.push(...checkPort(`${rule.at}.ports[${index}]`, port));
    for (const [index, peer] of rule.peers.entries())
      errors.push(...checkPeer(`${peersField(rule)}[${index}]`, peer, lenient, known));
  }
  if (policyTypes.length > TYPES.length)
    return [...errors, field.invalid("spec.policyTypes", policyTypes, "may not specify more than two policyTypes")];
  for (const [index, type] of policyTypes.entries())
    if (!TYPES.includes(type)) errors.push(field.notSupported(`spec.policyTypes[${index}]`, type, TYPES));
  return errors;
}

function checkPort(at: string, { protocol, port, endPort }: Read<NetworkPolicyPort>): FieldError[] {
  const errors =
    protocol !== undefined && !PROTOCOLS.includes(protocol)
      ? [field.notSupported(`${at}.protocol`, protocol, PROTOCOLS)]
      : [];
  const endAt = `${at}.endPort`;
  if (port === undefined)
    return endPort === undefined
      ? errors
      : [...errors, field.invalid(endAt, endPort, "may not be specified when `port` is not specified")];
  if (typeof port === "string")
    return [
      ...errors,
      ...(endPort === undefined
        ? []
        : [field.invalid(endAt, endPort, "may not be specified when `port` is non-numeric")]),
      ...checkPortName(`${at}.port`, port),
    ];
  errors.push(...checkPortNumber(`${at}.port`, port));
  if (endPort === undefined) return errors;
  return [
    ...errors,
    ...(endPort < port ? [field.invalid(endAt, port, "must be greater than or equal to `port`")] : []),
    ...checkPortNumber(endAt, endPort),
  ];
}

function checkPeer(
  at: string,
  { podSelector, namespaceSelector, ipBlock }: Read<NetworkPolicyPeer>,
  lenient: boolean,
  known: readonly string[],
): FieldError[] {
  if (!podSelector && !namespaceSelector && !ipBlock) return [field.required(at, "must specify a peer")];
  return [
    ...checkSelector(`${at}.podSelector`, podSelector, lenient),
    ...checkSelector(`${at}.namespaceSelector`, namespaceSelector, lenient),
    ...(ipBlock ? checkBlock(`${at}.ipBlock`, ipBlock, known) : []),
    ...(ipBlock && (podSelector || namespaceSelector)
      ? [field.forbidden(at, "may not specify both ipBlock and another peer")]
      : []),
  ];
}

function checkBlock(at: string, { cidr = "", except = [] }: Sent<IPBlock>, known: readonly string[]): FieldError[] {
  if (cidr === "") return [field.required(`${at}.cidr`)];
  const errors = checkNetwork(`${at}.cidr`, cidr, known);
  const network = parseNetwork(cidr);
  if (!network) return errors;
  for (const [index, text] of except.entries()) {
    const path = `${at}.except[${index}]`;
    errors.push(...checkNetwork(path, text, known));
    const exception = parseNetwork(text);
    if (exception && !isStrictlyWithin(exception, network))
      errors.push(field.invalid(path, text, "must be a strict subset of `cidr`"));
  }
  return errors;
}

function policyWarnings(spec: Read<NetworkPolicySpec>): string[] {
  return rulesOf(spec).flatMap((rule) =>
    rule.peers.flatMap(({ ipBlock }, index) => {
      if (!ipBlock) return [];
      const at = `${peersField(rule)}[${index}].ipBlock`;
      return [
        ...networkWarnings(`${at}.cidr`, ipBlock.cidr),
        ...(ipBlock.except ?? []).flatMap((text, place) => networkWarnings(`${at}.except[${place}]`, text)),
      ];
    }),
  );
}

export const rules: AnyAdmission[] = [
  builtInAdmission(NetworkPolicy, "networking-v1", {
    complete: (policy) => change(fill(policy, { spec: {} }), "spec", completeSpec),
    validate: ({ object, oldObject }) => checkSpec(object.spec ?? {}, oldObject && (oldObject.spec ?? {})),
    warnings: ({ object }) => policyWarnings(object.spec ?? {}),
  }),
];
