import { descriptionsAt, type FieldDescriptions } from "@flotilla/apimachinery";

/** A rule of the kind, with the function that its script must define. */
const rule = (name: string, description: string, script: string): FieldDescriptions =>
  descriptionsAt(`spec.customizations.${name}`, {
    "": description,
    luaScript: `Lua 5.1 that defines ${script} At most 256 Ki characters; a call may take 100 ms.`,
  });

export const resourceInterpreterCustomizationDescriptions: FieldDescriptions = {
  "": "Lua scripts that interpret a kind: its replicas, health, status and dependencies. They take precedence over webhooks and built-in rules.",
  spec: "The kind, and its rules.",
  "spec.target": "The kind that the rules apply to, in exactly this version.",
  "spec.target.apiVersion": "The API version of the kind, such as apps/v1.",
  "spec.target.kind": "The kind.",
  "spec.customizations":
    "The rules. Operations without a script use the webhooks and built-in rules of the kind. Two " +
    "customizations with the same target must not have the same rule, except for dependencies, which are " +
    "combined.",
  ...rule(
    "replicaResource",
    "How many replicas an object has, and what one requires. The kind then needs a rule that sets replicas, too.",
    "GetReplicas(desiredObj): it returns the number, and the requirements or nil.",
  ),
  ...rule(
    "replicaRevision",
    "Sets the replicas in a member's copy.",
    "ReviseReplica(desiredObj, desiredReplica): it returns the copy.",
  ),
  ...rule(
    "componentResource",
    "The components of an object with several pod templates. Used if the hub runs with --multiple-pod-templates-scheduling.",
    "GetComponents(desiredObj): it returns a list with name, replicas and requirements.",
  ),
  ...rule(
    "retention",
    "Keeps fields of the member's object that its own controllers write, when a copy is applied.",
    "Retain(desiredObj, observedObj): it returns the copy to apply.",
  ),
  ...rule(
    "statusReflection",
    "Which part of the status of a member's object is reported to the hub. Without it: the whole status.",
    "ReflectStatus(observedObj): it returns that part.",
  ),
  ...rule(
    "statusAggregation",
    "The status of the template from those of the members. Only the status of the result is used.",
    "AggregateStatus(desiredObj, statusItems): it returns the template with its status.",
  ),
  ...rule(
    "healthInterpretation",
    "Whether a member's object is healthy. Failover and graceful eviction depend on it. Without it: always.",
    "InterpretHealth(observedObj): it returns true or false.",
  ),
  ...rule(
    "dependencyInterpretation",
    "The objects that the template needs, for policies with propagateDeps.",
    "GetDependencies(desiredObj): it returns a list with apiVersion, kind, namespace, and name or labelSelector.",
  ),
};
