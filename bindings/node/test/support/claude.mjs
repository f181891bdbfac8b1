// A scripted model behind Anthropic's API, which streams its answers and remembers what it received.

import { createServer } from 'node:http';

/** Starts a model that gives these answers in order to requests that offer tools: a text, or a call `[name, input]`. */
export async function scriptedClaude(answers) {
  const heard = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const asked = request.url.startsWith('/v1/messages') && request.method === 'POST' ? JSON.parse(body) : undefined;
    if (!asked || request.url.includes('count_tokens')) {
      response.writeHead(asked ? 200 : 404, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(asked ? { input_tokens: 1 } : { type: 'error', error: { type: 'not_found_error', message: 'not here' } }));
    }
    // Requests without tools are the program's own: titles, summaries.
    const isAgent = (asked.tools ?? []).length > 0;
    const answer = isAgent ? (answers[heard.length] ?? 'done') : 'ok';
    if (isAgent) heard.push(asked);
    const isText = typeof answer === 'string';
    const block = isText ? { type: 'text', text: '' } : { type: 'tool_use', id: `toolu_${heard.length}`, name: answer[0], input: {} };
    const delta = isText ? { type: 'text_delta', text: answer } : { type: 'input_json_delta', partial_json: JSON.stringify(answer[1]) };
    const stop_reason = isText ? 'end_turn' : 'tool_use';
    const message = { id: `msg_${heard.length}`, type: 'message', role: 'assistant', model: asked.model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } };
    if (!asked.stream) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const content = [isText ? { type: 'text', text: answer } : { ...block, input: answer[1] }];
      return response.end(JSON.stringify({ ...message, content, stop_reason }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const blocks = ({ messages }) => messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const text = (content) => (typeof content === 'string' ? content : (content ?? []).map((part) => part.text).join(''));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** The results of its calls in the last request. */
    results: () => blocks(heard.at(-1) ?? { messages: [] }).filter(({ type }) => type === 'tool_result').map(({ content, is_error: isError }) => [text(content), isError ?? false]),
    close: () => server.close().closeAllConnections(),
  };
}
