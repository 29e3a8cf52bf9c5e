/**
 * What the server checks of releases beyond their schema: selectors, time zones and budgets that must make sense, the
 * permission to use what gates name, and who approved what.
 */
import { ApiError, field, labelSelectorOf } from "@flotilla/apimachinery";
import type { Admission, AnyAdmission, ClusterReader, FieldError } from "@flotilla/apimachinery";
import { formatTime, isObject } from "@flotilla/base";
import type { DeepReadonly, Json } from "@flotilla/base";
import { createReferenceAccess } from "../access/reference-access.ts";
import type { NamedObject } from "../access/reference-access.ts";
import { FleetDisruptionBudget } from "./kinds/fleet-disruption-budget.ts";
import { FleetRollout } from "./kinds/fleet-rollout.ts";
import { RolloutStrategy } from "./kinds/rollout-strategy.ts";
import type { GateSpec, StrategySpec } from "./kinds/strategy-fields.ts";
import { isTimeZone } from "./plan/plan-window.ts";

type Waves = DeepReadonly<StrategySpec["waves"]>;

/** On a FleetRollout: who approved, promoted, paused or aborted, as JSON. Written by the server. */
const ACTORS = "flotilla.dev/actors";
const MAX_ACTORS = 200;

interface FoundGate {
  readonly gate: DeepReadonly<GateSpec>;
  readonly path: string;
}

function gatesIn(waves: Waves | undefined, path: string): FoundGate[] {
  return (waves ?? []).flatMap((wave, index) =>
    (["before", "after"] as const).flatMap((when) =>
      (wave[when] ?? []).map((gate, place) => ({ gate, path: `${path}[${index}].${when}[${place}]` })),
    ),
  );
}

/** Permission to have the hub send requests to a server: `use` of `gateservers` with its host and port as name. */
function serverAccess(url: string, path: string): NamedObject[] {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed) return [];
  const port = parsed.port || (parsed.protocol === "https:" ? "443" : "80");
  return [
    {
      path,
      access: { verb: "use", group: "flotilla.dev", resource: "gateservers", name: `${parsed.hostname}:${port}` },
    },
  ];
}

function namedIn(waves: Waves | undefined, path: string, namespace: string): NamedObject[] {
  return gatesIn(waves, path).flatMap(({ gate, path: at }) => {
    const secret = gate.metric?.bearerToken ?? gate.webhook?.bearerToken;
    const kind = gate.metric ? "metric" : "webhook";
    return [
      ...(gate.metric ? serverAccess(gate.metric.server, `${at}.metric.server`) : []),
      ...(gate.webhook ? serverAccess(gate.webhook.url, `${at}.webhook.url`) : []),
      ...(secret
        ? [
            {
              path: `${at}.${kind}.bearerToken`,
              access: { verb: "get", group: "", resource: "secrets", namespace, name: secret.name },
            },
          ]
        : []),
      // The hub creates the Job on the member with its own permissions.
      ...(gate.job
        ? [{ path: `${at}.job`, access: { verb: "create", group: "batch", resource: "jobs", namespace } }]
        : []),
    ];
  });
}

/** Gates that use what they name. Any change of one is a new use: another query, another key, other pods. */
const usingGates = (waves: Waves | undefined): Json =>
  gatesIn(waves, "").flatMap(({ gate }) => (gate.metric || gate.webhook || gate.job ? [gate as Json] : []));

/** The hub gives members what a FleetRollout contains, so its writer needs the permission to write the template. */
function namedTarget({ metadata, spec: { target } }: DeepReadonly<FleetRollout>, read: ClusterReader): NamedObject {
  const group = target.apiVersion.includes("/") ? target.apiVersion.slice(0, target.apiVersion.indexOf("/")) : "";
  const served = Array.from(read.kinds()).find((each) => each.group === group && each.kind === target.kind);
  const { namespace = "" } = metadata;
  return {
    path: "spec.target",
    access: { verb: "update", group, resource: served?.plural ?? "*", namespace, name: target.name },
  };
}

function checkWaves(waves: Waves | undefined, path: string): FieldError[] {
  const errors = (waves ?? []).flatMap((wave, index) => {
    const { clusters } = wave;
    if (!clusters) return [];
    return selectorErrors(
      { matchLabels: clusters.matchLabels, matchExpressions: clusters.matchExpressions },
      `${path}[${index}].clusters`,
    );
  });
  for (const { gate, path: at } of gatesIn(waves, path)) {
    // No permission could name its server.
    const addresses = { "metric.server": gate.metric?.server, "webhook.url": gate.webhook?.url };
    for (const [name, url] of Object.entries(addresses))
      if (url !== undefined && !URL.canParse(url))
        errors.push(field.invalid(`${at}.${name}`, url, "must be the address of a server"));
    if (gate.window && !isTimeZone(gate.window.timeZone))
      errors.push(
        field.invalid(`${at}.window.timeZone`, gate.window.timeZone, "must be a time zone such as Europe/Oslo"),
      );
    if (gate.metric && gate.metric.min === undefined && gate.metric.max === undefined)
      errors.push(field.required(`${at}.metric`, "name min, max, or both"));
    if (gate.job && !(isObject(gate.job.template) && isObject(gate.job.template["template"])))
      errors.push(field.invalid(`${at}.job.template`, "", "must be the spec of a Job, with a pod template"));
  }
  return errors;
}

function selectorErrors(selector: unknown, path: string): FieldError[] {
  try {
    labelSelectorOf(selector as Parameters<typeof labelSelectorOf>[0]);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [field.invalid(path, "", error.message)];
  }
}

export const strategyRules: Admission<RolloutStrategy> = {
  name: "RolloutStrategyRules",
  for: RolloutStrategy,
  on: ["CREATE", "UPDATE"],
  validate: ({ object: { spec } }) => [
    ...selectorErrors(spec.selector, "spec.selector"),
    ...checkWaves(spec.waves, "spec.waves"),
  ],
};

/** The fields by which people steer a release. */
const STEERING = ["approvals", "promotions", "paused", "abort", "retry"] as const;

export const rolloutRules: Admission<FleetRollout> = {
  name: "FleetRolloutRules",
  for: FleetRollout,
  on: ["CREATE", "UPDATE"],
  isReinvoked: true,
  mutate({ object, oldObject, byController, user, nowMs, subresource }) {
    if (subresource !== undefined) return object;
    const before = oldObject?.metadata.annotations?.[ACTORS];
    const known = readActors(before);
    const added = byController
      ? []
      : STEERING.filter((name) => JSON.stringify(object.spec[name]) !== JSON.stringify(oldObject?.spec[name]));
    const text =
      added.length === 0
        ? before
        : JSON.stringify(
            [
              ...known,
              ...added.map((name) => ({
                did: name,
                to: object.spec[name] ?? null,
                user: user.name,
                at: formatTime(nowMs()),
              })),
            ].slice(-MAX_ACTORS),
          );
    if (object.metadata.annotations?.[ACTORS] === text) return object;
    const { [ACTORS]: _sent, ...others } = object.metadata.annotations ?? {};
    return {
      ...object,
      metadata: { ...object.metadata, annotations: text === undefined ? others : { ...others, [ACTORS]: text } },
    };
  },
  validate({ object, oldObject, subresource, byController }) {
    if (subresource !== undefined) return [];
    const errors = checkWaves(object.spec.strategy?.waves, "spec.strategy.waves");
    if (!oldObject || byController) return errors;
    for (const name of ["target", "revision", "template", "previous", "number", "source"] as const)
      if (JSON.stringify(object.spec[name]) !== JSON.stringify(oldObject.spec[name]))
        errors.push(field.forbidden(`spec.${name}`, "it says what is released, and cannot be changed"));
    return errors;
  },
};

function readActors(text: string | undefined): readonly unknown[] {
  try {
    const actors: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(actors) ? actors : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Who last opened a gate of a wave by hand. */
export function actorOf(
  { metadata }: DeepReadonly<FleetRollout>,
  did: "approvals" | "promotions",
  wave: string,
): string | undefined {
  const actors = readActors(metadata.annotations?.[ACTORS]).toReversed();
  for (const actor of actors)
    if (
      isObject(actor) &&
      actor["did"] === did &&
      Array.isArray(actor["to"]) &&
      (actor["to"].includes(wave) || actor["to"].includes("*"))
    )
      return typeof actor["user"] === "string" ? actor["user"] : undefined;
  return undefined;
}

export const budgetRules: Admission<FleetDisruptionBudget> = {
  name: "FleetDisruptionBudgetRules",
  for: FleetDisruptionBudget,
  on: ["CREATE", "UPDATE"],
  validate: ({ object: { spec } }) => selectorErrors(spec.selector, "spec.selector"),
};

/** On the hub: the permission to use what a strategy or a release names. */
export function rolloutReferences(hub: string): readonly AnyAdmission[] {
  return [
    createReferenceAccess<RolloutStrategy>(hub, {
      for: RolloutStrategy,
      named: ({ metadata, spec }) => namedIn(spec.waves, "spec.waves", metadata.namespace ?? ""),
      destination: ({ spec }) => usingGates(spec.waves),
    }),
    createReferenceAccess<FleetRollout>(hub, {
      for: FleetRollout,
      named: (rollout, read) => [
        namedTarget(rollout, read),
        ...namedIn(rollout.spec.strategy?.waves, "spec.strategy.waves", rollout.metadata.namespace ?? ""),
      ],
      destination: ({ spec: { strategy = null } }) => strategy as Json,
    }),
  ] as readonly AnyAdmission[];
}
