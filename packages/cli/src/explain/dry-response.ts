/** A request of a dry run, and its response. */
import type { JsonObject } from "@flotilla/base";

export interface DryResponse {
  status: number;
  body: JsonObject;
  warnings?: string[];
}

export interface SentRequest {
  method: string;
  path: string;
  contentType?: string;
  body?: string;
}
