/**
 * Rules of users for a CloneSet, by operation: sound ones, and ones that throw, end at a limit, return the wrong type or
 * another value than asked for, take fields away, or keep too much.
 */
import { LuaLimitError } from "@flotilla/lua";
import { GUIDE_HEALTH, GUIDE_RULES } from "./rules-fleet.ts";
import type { RulesFleetOptions } from "./rules-fleet.ts";

interface Rule {
  customizations: object;
  /** Of an unsound rule: what `status` and `why` say is wrong, beside its name. */
  wrong?: RegExp;
  /** The rule fails at each call, so its operation has no result. */
  fails?: true;
  /** A sound rule of which `why` reports what it does, such as replicas that are left to members. */
  isReported?: true;
}
type Operation = Readonly<Record<string, Rule>>;

const lua = (name: string, parameters: string, body: string): { luaScript: string } => ({
  luaScript: `function ${name}(${parameters})\n${body}\nend`,
});
const sound = (customizations: object): Rule => ({ customizations });
const unsound = (customizations: object, wrong: RegExp): Rule => ({ customizations, wrong });
const failing = (customizations: object, wrong: RegExp): Rule => ({ customizations, wrong, fails: true });

const count = (body: string) => ({ replicaResource: lua("GetReplicas", "object", body) });
const revise = (body: string) => ({
  replicaResource: { jsonPath: ".spec.replicas" },
  replicaRevision: lua("ReviseReplica", "desired, count", body),
});
const reflect = (body: string) => ({ statusReflection: lua("ReflectStatus", "object", body) });
const health = (body: string) => ({ healthInterpretation: lua("InterpretHealth", "object", body) });
const retain = (body: string) => ({ retention: lua("Retain", "desired, observed", body) });
const aggregate = (body: string) => ({ statusAggregation: lua("AggregateStatus", "desired, items", body) });
const dependencies = (body: string) => ({ dependencyInterpretation: lua("GetDependencies", "object", body) });

const ENDLESS = "while true do end";
const LIMIT = /limit|steps|time|exceeded/;
const TYPE = /type/;
const huge = (size: number): string => `local t = {}\nfor i = 1, ${size} do t[i] = 'xxxxxxxxxxxxxxxx' .. i end`;
const dependency = (kind: string, name: string): string =>
  `return { { apiVersion = '${kind === "CloneSet" ? "apps.kruise.io/v1alpha1" : "v1"}', kind = '${kind}', namespace = 'shop', name = ${name} } }`;

/** None of a slot is the rule of the kind. */
export const CATALOG: Readonly<Record<string, Operation>> = {
  replicas: {
    none: sound({}),
    paths: sound({ replicas: GUIDE_RULES.replicas, scale: GUIDE_RULES.scale }),
    plain: sound(revise("desired.spec.replicas = count\nreturn desired")),
    counted: sound(count("return object.spec.replicas")),
    "too many": failing(
      revise("desired.spec.replicas = count * 2\nreturn desired"),
      /changes nothing|returns a copy with/,
    ),
    unchanged: failing(revise("return desired"), /changes nothing/),
    throws: failing(revise("error('no revision')"), /no revision/),
    endless: failing(revise(ENDLESS), LIMIT),
    "a text": failing({ ...revise("return desired"), ...count("return 'ten'") }, TYPE),
    "a text as the copy": failing(revise("return 'x'"), TYPE),
    "an endless count": failing(count(ENDLESS), LIMIT),
    negative: failing(count("return -3"), /-3 replicas/),
    "too few": unsound(count("return 4"), /counts 4 replicas/),
    "none at all": unsound(count("return 0"), /counts 0 replicas/),
    "one in each": unsound(revise("desired.spec.replicas = 1\nreturn desired"), /spec\.replicas is 1/),
    "without the strategy": unsound(
      revise("desired.spec.replicas = count\ndesired.spec.updateStrategy = nil\nreturn desired"),
      /takes spec\.updateStrategy\.partition away/,
    ),
    "another value each time": failing(
      revise("desired.spec.replicas = 5 + math.random(3)\nreturn desired"),
      /returns a copy with|changes nothing/,
    ),
  },
  reflect: {
    none: sound({}),
    path: sound({ statusReflection: GUIDE_RULES.statusReflection }),
    "with generations": sound(
      reflect(
        "local status = object.status or {}\n" +
          "status.generation = object.metadata.generation\n" +
          "status.resourceTemplateGeneration = " +
          "tonumber(object.metadata.annotations['resourcetemplate.karmada.io/generation'])\n" +
          "return status",
      ),
    ),
    "with another value each time": sound(
      reflect("local status = object.status or {}\nstatus.nonce = math.random(1000)\nreturn status"),
    ),
    throws: failing(reflect("return object.status.nothing.here"), /index a non-table/),
    endless: failing(reflect(ENDLESS), LIMIT),
    "a text": failing(reflect("return 'fine'"), TYPE),
    nothing: failing(reflect("return nil"), TYPE),
    empty: unsound(reflect("return {}"), /leaves out readyReplicas and updatedReplicas/),
    huge: unsound(reflect(`${huge(2000)}\nreturn { items = t }`), /leaves out readyReplicas and updatedReplicas/),
    "without the ready pods": unsound(
      reflect(
        "return { replicas = object.status.replicas, updatedReplicas = object.status.updatedReplicas, availableReplicas = object.status.availableReplicas }",
      ),
      /leaves out readyReplicas/,
    ),
  },
  health: {
    none: sound({}),
    guide: sound(GUIDE_HEALTH),
    throws: failing(health("error('ill')"), /ill/),
    endless: failing(health(ENDLESS), LIMIT),
    "a number": failing(health("return 1"), TYPE),
    nothing: failing(health("return nil"), TYPE),
    never: unsound(health("return false"), /says Unhealthy/),
  },
  retain: {
    none: sound({}),
    "another field": sound(retain("desired.spec.minReadySeconds = observed.spec.minReadySeconds\nreturn desired")),
    paths: { customizations: { retention: GUIDE_RULES.retention }, isReported: true },
    partition: {
      customizations: retain(
        "desired.spec.updateStrategy.partition = observed.spec.updateStrategy.partition\nreturn desired",
      ),
      isReported: true,
    },
    replicas: {
      customizations: retain("desired.spec.replicas = observed.spec.replicas\nreturn desired"),
      isReported: true,
    },
    template: unsound(retain("desired.spec.template = observed.spec.template\nreturn desired"), /spec\.template/),
    everything: unsound(retain("desired.spec = observed.spec\nreturn desired"), /spec\./),
    "a constant": {
      customizations: retain("desired.spec.updateStrategy.partition = 0\nreturn desired"),
      isReported: true,
    },
    "another image": unsound(
      retain("desired.spec.template.spec.containers[1].image = 'web:0'\nreturn desired"),
      /containers\[web\]\.image is "web:0"/,
    ),
    "another value each time": {
      customizations: retain("desired.spec.minReadySeconds = math.random(1000)\nreturn desired"),
      isReported: true,
    },
    "without the strategy": {
      customizations: retain("desired.spec.updateStrategy = nil\nreturn desired"),
      isReported: true,
    },
    "without replicas": { customizations: retain("desired.spec.replicas = nil\nreturn desired"), isReported: true },
    "without the template": unsound(retain("desired.spec.template = nil\nreturn desired"), /spec\.template/),
    throws: failing(retain("error('no retention')\nreturn desired"), /no retention/),
    endless: failing(retain(ENDLESS), LIMIT),
    nothing: failing(retain("return nil"), TYPE),
  },
  aggregate: {
    none: sound({}),
    sums: sound(
      aggregate(
        "local s = { replicas = 0, readyReplicas = 0, updatedReplicas = 0, updatedReadyReplicas = 0, " +
          "availableReplicas = 0 }\n" +
          "for i = 1, #items do\n" +
          "  for k, v in pairs(s) do s[k] = v + ((items[i].status or {})[k] or 0) end\n" +
          "end\n" +
          "desired.status = s\n" +
          "return desired",
      ),
    ),
    throws: failing(aggregate("error('no sum')"), /no sum/),
    endless: failing(aggregate(ENDLESS), LIMIT),
    "a text": failing(aggregate("return 'sum'"), TYPE),
    nothing: failing(aggregate("return nil"), TYPE),
    "too little": unsound(aggregate("desired.status = { replicas = 1 }\nreturn desired"), /Required value/),
    huge: unsound(aggregate(`${huge(2000)}\ndesired.status = { items = t }\nreturn desired`), /Required value/),
    "a changed spec": sound(aggregate("desired.spec.replicas = 1\nreturn desired")),
  },
  dependencies: {
    none: sound({}),
    empty: sound(dependencies("return {}")),
    /** A reference in advance: the object may come later. */
    "of an absent object": sound(dependencies(dependency("ConfigMap", "'absent'"))),
    "of another object each time": sound(dependencies(dependency("ConfigMap", "'absent' .. math.random(1000)"))),
    "of itself": sound(dependencies(dependency("CloneSet", "'web'"))),
    throws: failing(dependencies("error('no dependencies')"), /no dependencies/),
    endless: failing(dependencies(ENDLESS), LIMIT),
    "a text": failing(dependencies("return 'web'"), TYPE),
    nameless: failing(dependencies("return { { apiVersion = 'v1', kind = 'ConfigMap' } }"), /name/),
  },
};

/** The names under which rules of an operation are reported. */
export const NAMES: Readonly<Record<string, RegExp>> = {
  replicas: /GetReplicas|InterpretReplica|ReviseReplica/,
  reflect: /ReflectStatus|InterpretStatus/,
  health: /InterpretHealth/,
  retain: /Retain/,
  aggregate: /AggregateStatus/,
  dependencies: /GetDependencies|InterpretDependency/,
};

/** One rule for each operation. */
export type Names = Readonly<Record<string, string>>;

export const ruleOf = (operation: string, name: string): Rule => CATALOG[operation]?.[name] ?? sound({});

export const customizationsOf = (names: Names): object =>
  Object.assign(
    {},
    ...Object.entries(names).map(([operation, name]) => ruleOf(operation, name).customizations),
  ) as object;

/** A script that exceeds its limits ends at once: a fake clock does not wait for a thread. */
export const QUARANTINE: RulesFleetOptions["quarantine"] = {
  run: () => Promise.reject(new LuaLimitError("time", "the script exceeded the time limit")),
  close: () => Promise.resolve(),
};
