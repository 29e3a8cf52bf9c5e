/**
 * Validates a script's pod template: upstream decodes it into the Go type, and a value of the wrong type is an error.
 */
import { decodedPart } from "@flotilla/apimachinery";
import { isObject } from "@flotilla/base";
import type { Json } from "@flotilla/base";
import { InterpretError } from "@flotilla/kubernetes";

/** Templates that were already checked; they are parts of immutable inputs. */
const sound = new WeakSet<object>();

/** The error in the wording of Go's decoder, or undefined. */
export function templateProblem(json: Json): string | undefined {
  // An empty table is an empty list until its type is known.
  if (Array.isArray(json) && json.length === 0) return undefined;
  if (!isObject(json)) return "json: cannot unmarshal array into Go value of type v1.PodTemplateSpec";
  if (sound.has(json)) return undefined;
  try {
    decodedPart("core-v1", "PodTemplateSpec", json, (problem) => new InterpretError(problem));
    sound.add(json);
    return undefined;
  } catch (error) {
    if (error instanceof InterpretError) return error.message;
    throw error;
  }
}
