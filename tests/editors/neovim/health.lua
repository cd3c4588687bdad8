-- :checkhealth vim.lsp, then the server stopped and started again.
local t = require('support')

t.run(function()
  local count = #t.findings()
  local first = t.client().id
  vim.cmd('checkhealth vim.lsp')
  local health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  vim.cmd('close')
  vim.lsp.enable('pallas', false)
  t.until_('the server to stop', function()
    return not vim.lsp.get_client_by_id(first) and #t.shown('pallas') == 0
  end)
  vim.lsp.enable('pallas')
  vim.cmd('edit') -- Neovim 0.11 starts servers when a file is opened
  return { health = health, again = #t.findings() == count, restarted = t.client().id ~= first }
end)
