/**
 * The rules as people name them on the command line, in the order in which `--check` lists them: which field of a
 * customization holds the script, which function it must have, and what the results are called.
 */
import type { Operation } from "../../interpreter/index.ts";

export interface RuleInfo {
  operation: Operation;
  /** Below `spec.customizations`. */
  field: string;
  /** The function of the script with its arguments. */
  signature: string;
  /** What the rule is for, what it is given and what it must return. */
  documentation: readonly string[];
  /** A small script that is complete. */
  example: readonly string[];
}

export const RULES: readonly RuleInfo[] = [
  {
    operation: "Retain",
    field: "retention",
    signature: "Retain(desiredObj, observedObj)",
    documentation: [
      "Keeps what a member's own controllers decided: called before a copy is applied where it exists already.",
      "desiredObj is the copy to apply, observedObj what the member has. Returns desiredObj with the values to keep.",
    ],
    example: [
      "function Retain(desiredObj, observedObj)",
      "  desiredObj.spec.replicas = observedObj.spec.replicas",
      "  return desiredObj",
      "end",
    ],
  },
  {
    operation: "InterpretReplica",
    field: "replicaResource",
    signature: "GetReplicas(desiredObj)",
    documentation: [
      "Tells how many replicas an object asks for, and what one of them needs of a cluster.",
      "Returns a number, and a table with nodeClaim, resourceRequest, namespace and priorityClassName, or nil.",
    ],
    example: [
      'local kube = require("kube")',
      "function GetReplicas(desiredObj)",
      "  return desiredObj.spec.replicas, kube.accuratePodRequirements(desiredObj.spec.template)",
      "end",
    ],
  },
  {
    operation: "InterpretComponent",
    field: "componentResource",
    signature: "GetComponents(desiredObj)",
    documentation: [
      "Tells the parts of an object that is made of several, each with replicas and needs of its own.",
      "Returns a list of tables with name, replicas and replicaRequirements, or nil.",
    ],
    example: [
      "function GetComponents(desiredObj)",
      '  return { { name = "driver", replicas = 1 }, { name = "executor", replicas = desiredObj.spec.executors } }',
      "end",
    ],
  },
  {
    operation: "ReviseReplica",
    field: "replicaRevision",
    signature: "ReviseReplica(desiredObj, desiredReplica)",
    documentation: [
      "Makes a member's copy: the object with the number of replicas that this member runs.",
      "Returns desiredObj.",
    ],
    example: [
      "function ReviseReplica(desiredObj, desiredReplica)",
      "  desiredObj.spec.replicas = desiredReplica",
      "  return desiredObj",
      "end",
    ],
  },
  {
    operation: "InterpretStatus",
    field: "statusReflection",
    signature: "ReflectStatus(observedObj)",
    documentation: [
      "Picks what of a member object's status goes back to the hub; without this rule all of it does.",
      "Returns a table.",
    ],
    example: [
      "function ReflectStatus(observedObj)",
      "  return { readyReplicas = observedObj.status.readyReplicas }",
      "end",
    ],
  },
  {
    operation: "AggregateStatus",
    field: "statusAggregation",
    signature: "AggregateStatus(desiredObj, statusItems)",
    documentation: [
      "Sums the members' statuses onto the object on the hub.",
      "Each item has clusterName, status, applied, appliedMessage and health; statusItems is nil before the first member reports.",
      "Returns desiredObj, of which the status is taken.",
    ],
    example: [
      "function AggregateStatus(desiredObj, statusItems)",
      "  local ready = 0",
      "  for _, item in ipairs(statusItems or {}) do",
      "    if item.status ~= nil then ready = ready + (item.status.readyReplicas or 0) end",
      "  end",
      "  desiredObj.status = { readyReplicas = ready }",
      "  return desiredObj",
      "end",
    ],
  },
  {
    operation: "InterpretHealth",
    field: "healthInterpretation",
    signature: "InterpretHealth(observedObj)",
    documentation: ["Tells whether a member's object is well.", "Returns true or false; nil is an error."],
    example: [
      "function InterpretHealth(observedObj)",
      "  return observedObj.status ~= nil and observedObj.status.readyReplicas == observedObj.spec.replicas",
      "end",
    ],
  },
  {
    operation: "InterpretDependency",
    field: "dependencyInterpretation",
    signature: "GetDependencies(desiredObj)",
    documentation: [
      "Names the objects that must be on a member for this one to work: they follow it when its policy says so.",
      "Returns a list of tables with apiVersion, kind, namespace, and name or labelSelector. The rules of all customizations of a kind add up.",
    ],
    example: [
      'local kube = require("kube")',
      "function GetDependencies(desiredObj)",
      "  return kube.getPodDependencies(desiredObj.spec.template, desiredObj.metadata.namespace)",
      "end",
    ],
  },
];

/** What can be run: Karmada's operations, and the division over all members at once that only Flotilla has. */
export type RunOperation = Operation | "Divide";

export const OPERATION_NAMES: readonly RunOperation[] = [...RULES.map(({ operation }) => operation), "Divide"];

/** By its name, whatever the case of its letters. */
export function findOperation(name: string): RunOperation | undefined {
  return OPERATION_NAMES.find((operation) => operation.toLowerCase() === name.toLowerCase());
}

const DIVISION = [
  "-- Divide: no script; the object and the replicas of every member give every member's copy",
  "-- Flotilla's own rules divide what concerns the fleet as a whole: a partition, ordinals, subsets.",
  "-- A kind that has none, or has a script for ReviseReplica, is revised for each member.",
].join("\n");

/** The texts of `--show-doc`, of one operation or all: valid Lua, so that it can be the beginning of a script. */
export function renderDocumentation(asked: RunOperation | undefined): string {
  const rules = RULES.filter(({ operation }) => asked === undefined || operation === asked).map(
    ({ operation, field, signature, documentation, example }) =>
      [
        `-- ${operation}: spec.customizations.${field}.luaScript`,
        `-- function ${signature}`,
        ...documentation.map((line) => `-- ${line}`),
        ...example,
      ].join("\n"),
  );
  return [...rules, ...(asked === undefined || asked === "Divide" ? [DIVISION] : [])].join("\n\n");
}
