/**
 * Implements `flotilla edit`: opens an object of the hub in an editor until what was saved can be planned, and applies
 * the difference as `flotilla apply` does.
 */
import { formatYaml, gvkOf, HUB, parseYaml, LAST_APPLIED_ANNOTATION } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { equalJson, FlotillaError, isObject, messageOf, UsageError, textOf } from "@flotilla/base";
import type { DeepReadonly, Json, JsonObject } from "@flotilla/base";
import { find } from "@flotilla/client";
import type { AnyKind } from "@flotilla/client";
import { wrapWords } from "../text-layout.ts";
import type { Terminal } from "../terminal.ts";
import type { ApplyInput } from "./apply-input.ts";
import { nearestObject } from "./nearest-object.ts";
import { applyPlanned, checkCanConfirm, makePlan } from "./run-apply.ts";
import type { ApplyOptions, ApplyTools } from "./run-apply.ts";
import type { PlannedFleet } from "./plan-input.ts";

interface EditOptions extends Pick<ApplyOptions, "yes" | "waitMs"> {
  kind: AnyKind;
  namespace?: string;
  name: string;
}

interface EditTools extends ApplyTools {
  terminal: Pick<Terminal, "canAsk" | "ask" | "edit">;
}

const FAILED = 1;
const COMMENT_WIDTH = 100;
const HEADER =
  "Edit the object below. Lines that start with '#' are ignored, and an empty file cancels the edit. If the " +
  "change is rejected, the file is opened again with the reason.";

export async function runEdit(options: EditOptions, tools: EditTools): Promise<number> {
  checkCanConfirm(options, tools.terminal);
  const { kind, namespace, name } = options;
  const { output, asking } = tools;
  const found = await find(tools.client, kind, { cluster: HUB, namespace, name }, { signal: asking.signal });
  if (!found)
    throw new FlotillaError(
      "NotFound",
      `${kind.kind} ${namespace ? `${namespace}/` : ""}${name} not found on the hub${await nearestObject(tools.client, options, "edit", asking.signal)}`,
    );
  const edited = editableOf(found);
  const outcome = await editUntilPlanned(edited, tools);
  if ("cancelled" in outcome) {
    output.progress("");
    output.say(outcome.cancelled);
    return outcome.isFailure ? FAILED : 0;
  }
  return applyPlanned(outcome.planned, { ...options, ...outcome.input, namespace: namespace ?? "" }, tools);
}

type Outcome = { planned: PlannedFleet; input: ApplyInput } | { cancelled: string; isFailure: boolean };

/** Ends when a change can be planned, or when the user saves nothing new. */
async function editUntilPlanned(edited: JsonObject, tools: EditTools): Promise<Outcome> {
  const { signal } = tools.asking;
  let text = formatYaml(edited);
  let problem: string | undefined;
  for (;;) {
    const saved = withoutComments(await tools.terminal.edit(`${commentsFor(problem)}${text}`, signal));
    if (saved.trim() === "") return { cancelled: "Edit cancelled, the saved file is empty.", isFailure: false };
    if (problem !== undefined && saved === text)
      return { cancelled: "Edit cancelled, no valid changes were saved.", isFailure: true };
    text = saved;
    try {
      const manifest = readEdited(saved, edited);
      if (equalJson(manifest, edited)) return { cancelled: "Edit cancelled, no changes made.", isFailure: false };
      const input = { manifests: [manifest], namespace: "", edited };
      return { planned: await makePlan(input, tools), input };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof FlotillaError)) throw error;
      problem = messageOf(error);
    }
  }
}

/** The object without what the hub sets itself, and without kubectl's record of the last applied manifest. */
function editableOf(object: DeepReadonly<KubernetesObject>): JsonObject {
  const { metadata, status: _status, ...content } = object as unknown as JsonObject & { metadata: JsonObject };
  const {
    managedFields: _managers,
    resourceVersion: _version,
    uid: _uid,
    generation: _generation,
    creationTimestamp: _created,
    ...named
  } = metadata;
  if (isObject(named["annotations"])) {
    const { [LAST_APPLIED_ANNOTATION]: _record, ...annotations } = named["annotations"];
    if (Object.keys(annotations).length > 0) named["annotations"] = annotations;
    else delete named["annotations"];
  }
  const { apiVersion = "", kind = "", ...rest } = content;
  return { apiVersion, kind, metadata: named, ...rest };
}

/** Throws `UsageError` if the text is not the same object. */
function readEdited(text: string, edited: JsonObject): JsonObject {
  let value: Json;
  try {
    value = parseYaml(text);
  } catch (error) {
    throw new UsageError(`the file is not valid YAML: ${messageOf(error)}`);
  }
  if (!isObject(value) || !isObject(value["metadata"])) throw new UsageError("the file is not an object with metadata");
  if (identityOf(value) !== identityOf(edited))
    throw new UsageError(
      `apiVersion, kind, name and namespace of an object cannot be changed; it is ${identityOf(edited)}`,
    );
  return value;
}

function identityOf(object: JsonObject): string {
  const { group, version, kind } = gvkOf(object as unknown as KubernetesObject);
  const { namespace, name } = object["metadata"] as JsonObject;
  return `${kind} ${namespace === undefined ? "" : `${textOf(namespace)}/`}${textOf(name)} in ${group ? `${group}/` : ""}${version}`;
}

function commentsFor(problem: string | undefined): string {
  const paragraphs = problem === undefined ? [HEADER] : [HEADER, problem];
  const lines = paragraphs.flatMap((paragraph) => [
    ...paragraph.split("\n").flatMap((line) => wrapWords(line, COMMENT_WIDTH)),
    "",
  ]);
  return lines.map((line) => `# ${line}`.trimEnd()).join("\n") + "\n";
}

const withoutComments = (text: string): string =>
  text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");
