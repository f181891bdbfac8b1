// A scripted model behind an OpenAI-compatible API, which remembers what it received.

import { createServer } from 'node:http';

/** Starts a model that gives these answers in order: a text, or a list of calls `[name, arguments as text]`. */
export async function scriptedModel(answers) {
  const heard = [];
  let at = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { messages } = JSON.parse(body);
    heard.push(messages);
    const answer = answers[at++] ?? 'done';
    const isText = typeof answer === 'string';
    const calls = isText ? undefined : answer.map(([name, args], n) => ({ id: `call_${at}_${n}`, type: 'function', function: { name, arguments: args } }));
    const message = { role: 'assistant', content: isText ? answer : null, tool_calls: calls };
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(
      JSON.stringify({
        id: `chatcmpl-${at}`,
        object: 'chat.completion',
        created: 1,
        model: 'scripted',
        choices: [{ index: 0, message, finish_reason: isText ? 'stop' : 'tool_calls' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    );
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** The results the model got for its calls, one list per answer. */
    results: () => heard.map((messages) => messages.filter(({ role }) => role === 'tool').map(({ content }) => (typeof content === 'string' ? content : content.map(({ text }) => text).join('')))),
    close: () => server.close().closeAllConnections(),
  };
}
