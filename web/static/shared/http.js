/** Requests to the server, and why they fail. */

/** An error response of the server. */
export class RequestError extends Error {
  /** @param {number} status @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Sends a request and rejects every error response. @type {(address: string, options?: RequestInit) => Promise<Response>} */
export async function request(address, options) {
  const response = await fetch(address, options).catch(noAnswer);
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new RequestError(response.status, error ?? response.statusText);
}

/** Browsers say only "Failed to fetch" if nobody answers. @type {() => never} */
function noAnswer() {
  throw new Error("tablecam does not answer: is it still running?");
}

/** Reads a JSON document; null if the server has nothing to send. @type {(address: string, options?: RequestInit) => Promise<any>} */
export async function get(address, options) {
  const response = await request(address, options);
  return response.status === 204 ? null : response.json();
}

/** Sends a JSON document and reads the answer. @type {(address: string, body: object) => Promise<any>} */
export function post(address, body) {
  const headers = { "Content-Type": "application/json" };
  return get(address, { method: "POST", headers, body: JSON.stringify(body) });
}

/** Loads a picture completely, so that it can be shown without a flicker. @type {(address: string, options?: RequestInit) => Promise<{url: string, image: HTMLImageElement}>} */
export async function loadPicture(address, options) {
  const url = URL.createObjectURL(await (await request(address, options)).blob());
  const image = new Image();
  image.src = url;
  await image.decode();
  return { url, image };
}

/** The message of an error. @type {(error: unknown) => string} */
export function errorText(error) {
  return error instanceof Error ? error.message : String(error);
}

/** Waits for an answer; returns it, or why there is none. @type {<T>(promise: Promise<T>) => Promise<[T | null, string | null]>} */
export async function settled(promise) {
  try {
    return [await promise, null];
  } catch (error) {
    return [null, errorText(error)];
  }
}
