/**
 * Whether a script's pod template has the shape of one, as far as anybody here reads it. Upstream decodes it into the Go type,
 * so a wrong type is an error there too.
 */
import { isObject } from "../../../base/index.ts";
import type { Json } from "../../../base/index.ts";
import { tryParseQuantity } from "../../../machinery/index.ts";

type Shape = "string" | "object" | "quantities" | "strings" | { list: Shape } | { fields: Record<string, Shape> };

const named: Shape = { fields: { name: "string" } };
const secretReference: Shape = { fields: { secretRef: named } };
const container: Shape = {
  fields: {
    name: "string",
    resources: { fields: { requests: "quantities", limits: "quantities" } },
    env: { list: { fields: { valueFrom: { fields: { configMapKeyRef: named, secretKeyRef: named } } } } },
    envFrom: { list: { fields: { configMapRef: named, secretRef: named } } },
  },
};
const volume: Shape = {
  fields: {
    configMap: named,
    secret: { fields: { secretName: "string" } },
    persistentVolumeClaim: { fields: { claimName: "string" } },
    projected: { fields: { sources: { list: { fields: { configMap: named, secret: named } } } } },
    azureFile: { fields: { secretName: "string" } },
    cephfs: secretReference,
    cinder: secretReference,
    flexVolume: secretReference,
    rbd: secretReference,
    scaleIO: secretReference,
    iscsi: secretReference,
    storageos: secretReference,
    csi: { fields: { nodePublishSecretRef: named } },
  },
};
const podTemplate: Shape = {
  fields: {
    metadata: "object",
    spec: {
      fields: {
        containers: { list: container },
        initContainers: { list: container },
        volumes: { list: volume },
        imagePullSecrets: { list: named },
        serviceAccountName: "string",
        priorityClassName: "string",
        overhead: "quantities",
        nodeSelector: "strings",
        tolerations: { list: "object" },
        affinity: { fields: { nodeAffinity: { fields: { requiredDuringSchedulingIgnoredDuringExecution: "object" } } } },
      },
    },
  },
};

/** Templates that were looked at before; they are parts of immutable inputs. */
const sound = new WeakSet<object>();

/** What is wrong and where, or undefined. */
export function templateProblem(json: Json): string | undefined {
  // An empty table is an empty list until somebody says what it is.
  if (typeof json !== "object" || json === null || (Array.isArray(json) && json.length === 0)) return undefined;
  if (sound.has(json)) return undefined;
  const problem = problemOf(json, podTemplate, "PodTemplateSpec");
  if (problem === undefined) sound.add(json);
  return problem;
}

function problemOf(json: Json | undefined, shape: Shape, path: string): string | undefined {
  if (json === undefined || json === null) return undefined;
  if (typeof shape === "string") return matches(json, shape) ? undefined : `${nameOf(json)} into Go struct field ${path}`;
  if ("list" in shape) {
    if (!Array.isArray(json)) return `${nameOf(json)} into Go struct field ${path}`;
    return firstOf(json, (item) => problemOf(item, shape.list, path));
  }
  if (!isObject(json)) return `${nameOf(json)} into Go struct field ${path}`;
  return firstOf(Object.entries(shape.fields), ([key, inner]) => problemOf(Object.hasOwn(json, key) ? json[key] : undefined, inner, `${path}.${key}`));
}

function firstOf<T>(list: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of list) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function matches(json: Json, shape: "string" | "object" | "quantities" | "strings"): boolean {
  if (shape === "string") return typeof json === "string";
  if (!isObject(json)) return false;
  if (shape === "strings") return Object.values(json).every((value) => typeof value === "string");
  if (shape === "quantities") return Object.values(json).every((value) => (typeof value === "string" || typeof value === "number") && tryParseQuantity(value) !== undefined);
  return true;
}

const nameOf = (json: Json): string => (Array.isArray(json) ? "array" : typeof json === "object" ? "object" : typeof json === "boolean" ? "bool" : typeof json);
