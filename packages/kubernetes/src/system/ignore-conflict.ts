/** For writes of objects that others may change or delete meanwhile: their change reconciles the object again. */
import { isConflict, isNotFound } from "@flotilla/apimachinery";

export function ignoreConflict(error: unknown): void {
  if (!isConflict(error) && !isNotFound(error)) throw error;
}
