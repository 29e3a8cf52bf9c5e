/** CloneSet rules as a user would write them in Lua; Karmada's bundled rules for the kind do the same. */
const COUNTERS = [
  "replicas",
  "updatedReplicas",
  "readyReplicas",
  "availableReplicas",
  "updatedReadyReplicas",
  "expectedUpdatedReplicas",
];
const TEXTS = ["updateRevision", "currentRevision", "labelSelector"];

/** Whether the item has this field in its status, in Lua. */
const hasStatus = (name: string): string => `items[i].status ~= nil and items[i].status.${name} ~= nil`;
const lines = (names: readonly string[], line: (name: string) => string): string => names.map(line).join("\n");

export const CLONE_SET_SCRIPTS = {
  InterpretReplica: `
local kube = require("kube")
function GetReplicas(object)
  local requirements = kube.accuratePodRequirements(object.spec.template)
  return object.spec.replicas, requirements
end`,
  ReviseReplica: `
function ReviseReplica(object, replicas)
  object.spec.replicas = replicas
  return object
end`,
  InterpretStatus: `
function ReflectStatus(object)
  local reflected = {}
  if object.status == nil then return reflected end
  ${lines([...COUNTERS, ...TEXTS, "observedGeneration"], (name) => `reflected.${name} = object.status.${name}`)}
  reflected.generation = object.metadata.generation
  if object.metadata.annotations ~= nil then
    reflected.resourceTemplateGeneration = tonumber(object.metadata.annotations["resourcetemplate.karmada.io/generation"])
  end
  return reflected
end`,
  InterpretHealth: `
function InterpretHealth(object)
  if object.status.observedGeneration ~= object.metadata.generation then return false end
  if object.spec.replicas ~= nil and object.status.updatedReplicas < object.spec.replicas then return false end
  return object.status.availableReplicas >= object.status.updatedReplicas
end`,
  InterpretDependency: `
local kube = require("kube")
function GetDependencies(object)
  return kube.getPodDependencies(object.spec.template, object.metadata.namespace)
end`,
  AggregateStatus: `
function AggregateStatus(object, items)
  if object.status == nil then object.status = {} end
  local generation = object.metadata.generation or 0
  local observed = object.status.observedGeneration or 0
  ${lines(COUNTERS, (name) => `local ${name} = 0`)}
  ${lines(TEXTS, (name) => `local ${name} = ""`)}
  local current = 0
  items = items or {}
  for i = 1, #items do
    ${lines(COUNTERS, (name) => `if ${hasStatus(name)} then ${name} = ${name} + items[i].status.${name} end`)}
    ${lines(TEXTS, (name) => `if ${hasStatus(name)} and items[i].status.${name} ~= "" then ${name} = items[i].status.${name} end`)}
    local template, own, seen = 0, 0, 0
    if items[i].status ~= nil then
      template = items[i].status.resourceTemplateGeneration or 0
      own = items[i].status.generation or 0
      seen = items[i].status.observedGeneration or 0
    end
    if template == generation and own == seen then current = current + 1 end
  end
  if current == #items then observed = generation end
  object.status.observedGeneration = observed
  ${lines([...COUNTERS, ...TEXTS], (name) => `object.status.${name} = ${name}`)}
  return object
end`,
} as const;
