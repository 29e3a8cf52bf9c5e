/**
 * The rules as named on the command line, in the order in which `--check` lists them: the customization field that
 * holds the script, the function it must define, and the names of the results.
 */
import type { Operation } from "@flotilla/kubernetes";

export interface RuleInfo {
  operation: Operation;
  /** Below `spec.customizations`. */
  field: string;
  /** The script's function with its arguments. */
  signature: string;
  /** The purpose, arguments and result of the rule. */
  documentation: readonly string[];
  /** A small complete script. */
  example: readonly string[];
}

export const RULES: readonly RuleInfo[] = [
  {
    operation: "Retain",
    field: "retention",
    signature: "Retain(desiredObj, observedObj)",
    documentation: [
      "Retains fields that a member's own controllers set: called before a copy is applied to an existing object.",
      "desiredObj is the copy to apply, observedObj the member's object. Returns desiredObj with the retained values.",
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
      "Returns how many replicas an object requests, and what one replica requires of a cluster.",
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
      "Returns the components of a multi-component object, each with its own replicas and requirements.",
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
      "Creates a member's copy: the object with the replica count that this member runs.",
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
      "Selects which part of a member object's status is sent to the hub; without this rule all of it is.",
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
      "Aggregates the members' statuses into the object on the hub.",
      "Each item has clusterName, status, applied, appliedMessage and health; statusItems is nil before the first member reports.",
      "Returns desiredObj, of which only the status is used.",
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
    documentation: ["Returns whether a member's object is healthy.", "Returns true or false; nil is an error."],
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
      "Returns the dependencies that must be on a member for this object to work: they are propagated with it when its policy requests it.",
      "Returns a list of tables with apiVersion, kind, namespace, and name or labelSelector. The results of all customizations of a kind are combined.",
    ],
    example: [
      'local kube = require("kube")',
      "function GetDependencies(desiredObj)",
      "  return kube.getPodDependencies(desiredObj.spec.template, desiredObj.metadata.namespace)",
      "end",
    ],
  },
];

/** What can be run: Karmada's operations, and Flotilla's own division over all members at once. */
export type RunOperation = Operation | "Divide";

export const OPERATION_NAMES: readonly RunOperation[] = [...RULES.map(({ operation }) => operation), "Divide"];

/** By name, ignoring case. */
export function findOperation(name: string): RunOperation | undefined {
  return OPERATION_NAMES.find((operation) => operation.toLowerCase() === name.toLowerCase());
}

const DIVISION = [
  "-- Divide: no script; returns every member's copy from the object and the replicas of every member",
  "-- Built-in rules divide fleet-wide numbers: a partition, ordinals, subsets.",
  "-- A kind without such a rule, or with a script for ReviseReplica, is revised for each member.",
].join("\n");

/** The output of `--show-doc`, for one operation or all: valid Lua, so that it can be the start of a script. */
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
